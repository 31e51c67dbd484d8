import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, pushBranch } from './forge.ts';
import { REQUIRED, useMergeQueues } from './merge-queue-scene.ts';

// What waits behind the merges that are made ahead of the branch, and what changed before a merge that was made lands.

const { people, queued } = useMergeQueues();
let ada: Person;
beforeAll(() => {
  ({ ada } = people);
});

const LEFT = 'pull_cancel_scheduled_merge';

describe('behind the first batch', () => {
  it('what is pushed to, closed or given another base is out at once, and may be queued anew', async () => {
    const { pull, merge, made, at, tree, list, timeline, main } = await queued('behind', {
      ...REQUIRED,
      merge_queue_batch: 1,
    });
    const numbers: number[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) numbers.push(await pull(name, { [name]: '1' }));
    const [a = 0, b = 0, c = 0, d = 0, e = 0] = numbers;
    for (const number of numbers) expect((await merge(number)).status).toBe(201);
    await made(a);
    const before = await main();
    await pushBranch(tree, 'b', { b: '2' }, 'b');
    expect((await ada.call('PATCH', `${at}/pulls/${c}`, { state: 'closed' })).status).toBe(201);
    expect((await ada.call('PATCH', `${at}/pulls/${d}`, { base: 'a' })).status).toBe(201);
    const waiting = async () => (await list()).map((entry) => entry['number']);
    await expect.poll(waiting, { timeout: 15_000 }).toEqual([a, e]);
    for (const [number, reason] of [
      [b, 'pushed to'],
      [c, 'closed'],
      [d, 'another base'],
    ] as const)
      expect((await timeline(number)).at(-1)).toEqual([LEFT, expect.stringContaining(reason)]);
    expect((await merge(b)).status).toBe(201);
    expect(await waiting()).toEqual([a, e, b]);
    // The merge of the first one stands.
    expect(await made(a)).not.toBe('');
    expect(await main()).toBe(before);
  });
});

it('a style that is switched off while the checks run does not land', async () => {
  const { pull, merge, made, report, at, main, timeline, isMerged } = await queued('styles', REQUIRED);
  const a = await pull('a', { a: '1' });
  expect((await merge(a, { Do: 'squash' })).status).toBe(201);
  const sha = await made(a);
  const before = await main();
  expect((await ada.call('PATCH', at, { allow_squash_merge: false })).status).toBe(200);
  await report(sha, 'success');
  await expect.poll(async () => (await timeline(a)).at(-1)?.[0], { timeout: 15_000 }).toBe(LEFT);
  expect((await timeline(a)).at(-1)?.[1]).toContain('squash is not allowed');
  expect([await isMerged(a), await main()]).toEqual([false, before]);
});

it('what waits in the queue is not scheduled as well, and stays there', async () => {
  const { pull, merge, made, list, timeline } = await queued('scheduled', REQUIRED);
  const a = await pull('a', { a: '1' });
  expect((await merge(a)).status).toBe(201);
  await made(a);
  const before = [await list(), await timeline(a)];
  const again = await merge(a, { Do: 'squash', merge_when_checks_succeed: true });
  expect([again.status, again.body['message']]).toEqual([
    409,
    'pull request is already in the merge queue of main',
  ]);
  expect([await list(), await timeline(a)]).toEqual(before);
});
