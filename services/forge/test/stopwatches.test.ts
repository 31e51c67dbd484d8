import { fixedClock, git } from '@croft/testing';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { commit, type Person, pushedRepository, useForge } from './forge.ts';
import { referenceScene } from './reference-scene.ts';

// Whoever closes what he has a stopwatch running on is done with it, in whatever way he closes it.

const clock = fixedClock('2026-03-01T00:00:00Z');
const scene = useForge({ clock });
const { issue, timeline, stateOf, settled } = referenceScene(scene, () => ada);
let ada: Person;
let wim: Person;
let tree: string;
let branches = 0;
const at = '/repos/ada/work';
beforeAll(async () => {
  ada = scene.person('ada');
  wim = scene.person('wim');
  await wim.call('GET', '/user');
  tree = await pushedRepository(ada, 'work', scene.folder);
  await ada.call('PUT', `${at}/collaborators/wim`, { permission: 'write' });
});
beforeEach(async () => {
  await git(tree, 'checkout', '-q', 'main');
  await git(tree, 'pull', '-q', '--ff-only', 'origin', 'main');
});

/** A pull request, and the branch it is from. */
async function pull(body = ''): Promise<{ number: number; branch: string }> {
  const branch = `b${branches++}`;
  await git(tree, 'checkout', '-q', '-b', branch, 'main');
  await commit(tree, { [`${branch}.txt`]: 'x' }, branch);
  await git(tree, 'push', '-q', 'origin', branch);
  await git(tree, 'checkout', '-q', 'main');
  const made = await ada.call('POST', `${at}/pulls`, { head: branch, base: 'main', title: branch, body });
  expect(made.status, made.text).toBe(201);
  return { number: made.body.number, branch };
}
const merge = async (number: number, who: Person, body: object = {}) => {
  const merged = await who.call('POST', `${at}/pulls/${number}/merge`, { Do: 'merge', ...body });
  expect(merged.status, merged.text).toBe(200);
};
const running = async (who: Person) =>
  (await who.call('GET', '/user/stopwatches')).items.map((one) => one['issue_index']);

/** Each gets the number of what is to be closed, and closes it as wim. */
const WAYS: readonly (readonly [string, () => Promise<{ number: number; close: () => Promise<unknown> }>])[] =
  [
    [
      'an edit',
      async () => {
        const number = await issue('ada/work', 'edited');
        return { number, close: () => wim.call('PATCH', `${at}/issues/${number}`, { state: 'closed' }) };
      },
    ],
    [
      'an edit of a pull request',
      async () => {
        const { number } = await pull();
        return { number, close: () => wim.call('PATCH', `${at}/pulls/${number}`, { state: 'closed' }) };
      },
    ],
    [
      'a merge',
      async () => {
        const { number } = await pull();
        return { number, close: () => merge(number, wim) };
      },
    ],
    [
      'a merge by hand',
      async () => {
        await ada.call('PATCH', at, { allow_manual_merge: true });
        const { number, branch } = await pull();
        const by = await git(tree, 'rev-parse', branch);
        await git(tree, 'push', '-q', 'origin', `${branch}:main`);
        return { number, close: () => merge(number, wim, { Do: 'manually-merged', MergeCommitID: by }) };
      },
    ],
    [
      'a pull request that says so',
      async () => {
        const number = await issue('ada/work', 'named by a pull request');
        const { number: by } = await pull(`closes #${number}`);
        return { number, close: () => merge(by, wim) };
      },
    ],
    [
      'a commit that says so',
      async () => {
        const number = await issue('ada/work', 'named by a commit');
        await commit(tree, { 'more.txt': `${number}` }, `fixes #${number}`);
        return { number, close: () => git(tree, 'push', '-q', wim.remote('ada/work'), 'main') };
      },
    ],
    [
      'the deletion of the head branch',
      async () => {
        const { number, branch } = await pull();
        return { number, close: () => wim.call('DELETE', `${at}/branches/${branch}`) };
      },
    ],
  ];

it.each(WAYS)('%s stops the stopwatch of whoever does it, and notes its time once', async (_way, make) => {
  const { number, close } = await make();
  for (const who of [ada, wim]) {
    const started = await who.call('POST', `${at}/issues/${number}/stopwatch/start`);
    expect(started.status, started.text).toBe(201);
  }
  clock.advance(90_000);
  await close();
  await settled();
  expect(await stateOf('ada/work', number)).toBe('closed');
  expect(await running(wim)).toEqual([]);
  // Others may still be at it.
  expect(await running(ada)).toEqual([number]);
  const { items } = await ada.call('GET', `${at}/issues/${number}/times`);
  expect(items).toMatchObject([{ user_name: 'wim', time: 90 }]);
  const told = (await timeline('ada/work', number)).filter(({ type }) => type === 'stop_tracking');
  expect(told).toMatchObject([{ user: { login: 'wim' }, body: '1min 30s', tracked_time: { time: 90 } }]);
});

it('one that is started after the merge runs on', async () => {
  const { number } = await pull();
  await merge(number, wim);
  await settled();
  clock.advance(1000);
  await wim.call('POST', `${at}/issues/${number}/stopwatch/start`);
  await scene.sql.run`
    insert into :schema.outbox (topic, payload, created_at, run_at, lane)
    select 'happening', jsonb_build_object('kind', 'issue', 'action', 'closed', 'issueId', i.id,
      'repositoryId', i.repository_id, 'actorId', u.id), ${clock.now()}::timestamptz, ${clock.now()}, ''
    from :schema.issues i, :schema.users u where i.number = ${number} and u.login = 'wim'`;
  await settled();
  expect(await running(wim)).toEqual([number]);
  await wim.call('DELETE', `${at}/issues/${number}/stopwatch/delete`);
});

it('nothing is noted where whoever closes notes no time', async () => {
  const { number } = await pull();
  await wim.call('POST', `${at}/issues/${number}/stopwatch/start`);
  await ada.call('PATCH', at, { internal_tracker: { enable_time_tracker: false } });
  clock.advance(90_000);
  await merge(number, wim);
  await settled();
  await ada.call('PATCH', at, { internal_tracker: { enable_time_tracker: true } });
  expect(await running(wim)).toEqual([]);
  expect((await ada.call('GET', `${at}/issues/${number}/times`)).items).toEqual([]);
});
