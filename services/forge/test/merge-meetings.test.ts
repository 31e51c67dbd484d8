import { setTimeout as sleep } from 'node:timers/promises';
import { silentLog } from '@croft/runtime';
import { type Database, openDatabase, type Tx } from '@croft/sql';
import { git } from '@croft/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';

// Merges that meet something else in the middle: whoever comes second is told so.

/** Who stands in a queue shows nowhere. */
const ARRIVED_MS = 1_000;
const scene = useForge();
const path = '/repos/ada/work/pulls';
let ada: Person;
let tree: string;
let bare: string;
let database: Database;
beforeAll(async () => {
  ada = scene.person('ada');
  tree = await pushedRepository(ada, 'work', scene.folder);
  bare = await scene.bare('ada', 'work');
  await pushBranch(tree, 'other', { 'other.txt': 'other\n' }, 'origin/main');
  database = openDatabase({ url: scene.databaseUrl, schema: 'forge', log: silentLog });
});
afterAll(() => database.close());

async function pull(branch: string): Promise<number> {
  await git(tree, 'fetch', '-q', 'origin');
  await pushBranch(tree, branch, { [`${branch}.txt`]: `${branch}\n` }, 'origin/main');
  const { body } = await ada.call('POST', path, { head: branch, base: 'main', title: branch });
  return body.number;
}
const merge = (number: number) => ada.call('POST', `${path}/${number}/merge`, {});
const toOther = (number: number) => ada.call('PATCH', `${path}/${number}`, { base: 'other' });
async function baseOf(number: number): Promise<string> {
  const { text } = await ada.call('GET', `${path}/${number}`);
  return (JSON.parse(text) as { base: { ref: string } }).base.ref;
}
const isMerged = async (number: number) => (await ada.call('GET', `${path}/${number}/merge`)).status === 204;

/** As many statements wait for locks. */
async function someWait(count: number): Promise<void> {
  const waiting = async () =>
    (
      await database.autocommit().row<{ count: number }>`
      select count(*) from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`
    )?.count;
  await expect.poll(waiting, { timeout: 10_000 }).toBe(count);
}

/** Does something while a transaction of somebody else goes on. */
async function during<T>(hold: (tx: Tx) => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  const held = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const holding = database.transaction(async (tx) => {
    await hold(tx);
    held.resolve();
    await over.promise;
  });
  await held.promise;
  try {
    return await work();
  } finally {
    over.resolve();
    await holding;
  }
}

const holdIssue = (number: number) => (tx: Tx) =>
  tx.run`select from :schema.issues where number = ${number} for update`;

it('another base for what is being merged is refused', async () => {
  const number = await pull('merged-first');
  const requests = await during(holdIssue(number), async () => {
    const merging = merge(number);
    await someWait(1);
    const editing = toOther(number);
    // In the queue behind the merge.
    await sleep(ARRIVED_MS);
    return [merging, editing];
  });
  const [merging, editing] = await Promise.all(requests);
  expect(merging?.status).toBe(200);
  expect(editing?.status).toBe(409);
  expect(await baseOf(number)).toBe('main');
  const { text } = await ada.call('GET', `/repos/ada/work/issues/${number}/timeline`);
  expect(text).not.toContain('change_target_branch');
  // Of one that is merged already it stays what it was, as ever.
  expect((await toOther(number)).status).toBe(201);
  expect(await baseOf(number)).toBe('main');
});

it('a merge into a branch that is no longer the base is refused', async () => {
  const number = await pull('edited-first');
  const before = await git(bare, 'for-each-ref', 'refs/heads');
  const requests = await during(holdIssue(number), async () => {
    const editing = toOther(number);
    await someWait(1);
    const merging = merge(number);
    await sleep(ARRIVED_MS);
    return [editing, merging];
  });
  const [editing, merging] = await Promise.all(requests);
  expect(editing?.status).toBe(201);
  expect(merging?.status).toBe(409);
  expect(await git(bare, 'for-each-ref', 'refs/heads')).toBe(before);
  expect(await isMerged(number)).toBe(false);
  expect(await rowsOf(scene, 'merges')).toEqual([[]]);
  expect(await baseOf(number)).toBe('other');
  expect((await merge(number)).status).toBe(200);
});

it('a merge that somebody else announces in the same moment is refused', async () => {
  const number = await pull('twin');
  const before = await git(bare, 'for-each-ref', 'refs/heads');
  const merging = await during(
    (tx) => tx.run`
      insert into :schema.merges (pull_id, merged_by, base_branch, base_sha, head_sha, merge_base, commit_sha, started_at)
      select p.id, i.poster_id, p.base_branch, p.head_sha, p.head_sha, p.head_sha, ${'1'.repeat(40)}, ${tx.now}
      from :schema.pulls p join :schema.issues i on i.id = p.issue_id where i.number = ${number}`,
    async () => {
      const request = merge(number);
      await someWait(1);
      return { request };
    },
  );
  expect((await merging.request).status).toBe(409);
  expect(await git(bare, 'for-each-ref', 'refs/heads')).toBe(before);
  expect(await isMerged(number)).toBe(false);
  // The other one never came to its branch; the next finds that out.
  expect((await merge(number)).status).toBe(200);
});
