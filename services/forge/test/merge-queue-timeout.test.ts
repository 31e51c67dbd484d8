import { fixedClock, git } from '@croft/testing';
import { expect, it } from 'vitest';
import { pushBranch, pushedRepository, useForge } from './forge.ts';

const clock = fixedClock(new Date().toISOString());
const scene = useForge({ clock });

it('a merge whose checks never speak leaves the queue when its time is over, and the next one has its turn', async () => {
  const ada = scene.person('ada');
  const tree = await pushedRepository(ada, 'slow', scene.folder);
  const bare = await scene.bare('ada', 'slow');
  const at = '/repos/ada/slow';
  await ada.call('POST', `${at}/branch_protections`, {
    rule_name: 'main',
    enable_merge_queue: true,
    merge_queue_batch: 1,
    merge_queue_timeout_minutes: 30,
    enable_status_check: true,
    status_check_contexts: ['ci'],
  });
  const numbers: number[] = [];
  for (const branch of ['a', 'b']) {
    await pushBranch(tree, branch, { [branch]: '1' });
    const { number } = (await ada.call('POST', `${at}/pulls`, { head: branch, base: 'main', title: branch }))
      .body;
    expect((await ada.call('POST', `${at}/pulls/${number}/merge`, {})).status).toBe(201);
    numbers.push(number);
  }
  const refs = () => git(bare, 'for-each-ref', '--format=%(refname)', 'refs/queue');
  await expect.poll(refs).toBe(`refs/queue/main/${numbers[0]}`);
  clock.advance(31 * 60_000);
  // Something about the repository wakes the queue; else its next round does.
  await ada.call('POST', `${at}/statuses/main`, { state: 'pending', context: 'other' });
  await expect.poll(refs).toBe(`refs/queue/main/${numbers[1]}`);
  const timeline = (await ada.call('GET', `${at}/issues/${numbers[0]}/timeline`)).items;
  expect(timeline.at(-1)).toMatchObject({
    type: 'pull_cancel_scheduled_merge',
    body: 'Removed from the merge queue of main: its checks took longer than 30 minutes',
  });
  expect((await ada.call('GET', `${at}/pulls/${numbers[0]}`)).body).toMatchObject({
    state: 'open',
    merged: false,
  });
});
