import { setTimeout as sleep } from 'node:timers/promises';
import { git } from '@croft/testing';
import { beforeAll, expect, it } from 'vitest';
import { pushBranch } from './forge.ts';
import { killDuring, useKillableForge } from './killable-forge.ts';

const forge = useKillableForge();
const { ada } = forge;
const at = '/repos/ada/work';
let { tree, bare, sql } = forge;
beforeAll(async () => {
  ({ tree, bare, sql } = forge);
  const queue = { rule_name: 'main', enable_push: true, enable_merge_queue: true, merge_queue_batch: 3 };
  const made = await ada.call('POST', `${at}/branch_protections`, queue);
  if (made.status !== 201) throw new Error(made.text);
});

async function openPull(branch: string): Promise<number> {
  await git(tree, 'fetch', '-q', 'origin');
  await pushBranch(tree, branch, { [branch]: '1' }, 'origin/main');
  return (await ada.call('POST', `${at}/pulls`, { head: branch, base: 'main', title: branch })).body.number;
}

const queue = (number: number) => ada.call('POST', `${at}/pulls/${number}/merge`, {});

/** Merged in the rows exactly when the branch has it, and once. */
async function checkAgreement(): Promise<void> {
  expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
  const rows = await sql.rows<{
    number: number;
    merged: boolean;
    head_sha: string;
    merge_commit_sha: string;
  }>`
    select i.number, p.merged_at is not null as merged, p.head_sha, p.merge_commit_sha
    from :schema.pulls p join :schema.issues i on i.id = p.issue_id`;
  const onMain = (await git(bare, 'rev-list', 'main')).split('\n');
  for (const { number, merged, head_sha: head, merge_commit_sha: commit } of rows) {
    expect({ number, merged }).toEqual({ number, merged: onMain.includes(head) });
    if (merged) expect(onMain).toContain(commit);
  }
  const subjects = (await git(bare, 'log', '--format=%s', '--merges', 'main')).split('\n');
  expect(new Set(subjects).size).toBe(subjects.length);
}

const isDone = async () => (await sql.rows`select * from :schema.merge_queue`).length === 0;

it('killed between the move of the branch and the records, all of the batch are recorded at the next start', async () => {
  const numbers = [await openPull('late-1'), await openPull('late-2')];
  const before = await git(bare, 'rev-parse', 'main');
  await killDuring(forge, 'update of merged_at on forge.pulls', async () => {
    for (const number of numbers) await queue(number);
    await expect.poll(() => git(bare, 'rev-parse', 'main')).not.toBe(before);
  });
  await forge.start();
  await expect.poll(isDone).toBe(true);
  for (const number of numbers)
    expect((await ada.call('GET', `${at}/pulls/${number}/merge`)).status).toBe(204);
  expect(await sql.rows`select * from :schema.merges`).toEqual([]);
  await checkAgreement();
});

it('killed at random moments, it merges everything that was queued, once, and nothing else', async () => {
  const numbers = [];
  for (let index = 0; index < 9; index++) numbers.push(await openPull(`random-${index}`));
  const unqueued = await openPull('unqueued');
  await forge.kill();
  await forge.start();
  const queued = new Set<number>();
  for (let round = 0; round < 4; round++) {
    const pending = numbers
      .filter((number) => !queued.has(number))
      .slice(0, 4)
      .map(async (number) => {
        const answer = await queue(number).catch(() => undefined);
        if (answer === undefined) return;
        // The crash before may have come between the commit and the answer.
        expect([answer.status, answer.body?.message]).toBeOneOf([
          [201, undefined],
          [409, 'pull request is already in the merge queue of main'],
          [405, 'The PR is already merged'],
        ]);
        queued.add(number);
      });
    await sleep(50 + Math.random() * 250);
    await forge.kill();
    await Promise.all(pending);
    await forge.start();
  }
  for (const number of numbers) if (!queued.has(number)) await queue(number);
  await expect.poll(isDone).toBe(true);
  for (const number of numbers)
    expect((await ada.call('GET', `${at}/pulls/${number}/merge`)).status).toBe(204);
  expect((await ada.call('GET', `${at}/pulls/${unqueued}/merge`)).status).toBe(404);
  expect(await sql.rows`select * from :schema.merges`).toEqual([]);
  await checkAgreement();
});

it('killed while checks run, it waits for the same merges at the next start', async () => {
  const checked = { enable_status_check: true, status_check_contexts: ['ci'] };
  expect((await ada.call('PATCH', `${at}/branch_protections/main`, checked)).status).toBe(200);
  const numbers = [await openPull('checked-1'), await openPull('checked-2')];
  for (const number of numbers) await queue(number);
  const refs = () => git(bare, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/queue');
  // Written down after their refs; a merge that is not, the next start makes anew.
  const made = () => sql.rows`select from :schema.merge_queue where commit_sha is not null`;
  await expect.poll(async () => (await made()).length).toBe(2);
  const before = await refs();
  await forge.kill();
  // A ref that was to follow, and one whose row is gone.
  await git(bare, 'update-ref', '-d', `refs/queue/main/${numbers[0]}`);
  await git(bare, 'update-ref', 'refs/queue/main/9999', 'main');
  await forge.start();
  await expect.poll(refs).toBe(before);
  for (const sha of before.split('\n').map((line) => line.split(' ')[1]))
    await ada.call('POST', `${at}/statuses/${sha}`, { state: 'success', context: 'ci' });
  await expect.poll(isDone).toBe(true);
  expect(await refs()).toBe('');
  await checkAgreement();
});
