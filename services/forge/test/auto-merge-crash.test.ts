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
  const protection = { rule_name: 'main', enable_push: true, enable_status_check: true };
  const made = await ada.call('POST', `${at}/branch_protections`, protection);
  if (made.status !== 201) throw new Error(made.text);
});

/** A pull request that waits for its check. */
async function openScheduled(branch: string): Promise<{ number: number; head: string }> {
  await git(tree, 'fetch', '-q', 'origin');
  const head = await pushBranch(tree, branch, { [branch]: '1' }, 'origin/main');
  const { body } = await ada.call('POST', `${at}/pulls`, { head: branch, base: 'main', title: branch });
  const wish = { merge_when_checks_succeed: true, delete_branch_after_merge: true };
  expect((await ada.call('POST', `${at}/pulls/${body.number}/merge`, wish)).status).toBe(201);
  return { number: body.number, head };
}

/** It is merged, once, and its branch is gone. */
async function checkMerged(number: number, branch: string): Promise<void> {
  const isMerged = async () => (await ada.call('GET', `${at}/pulls/${number}/merge`)).status;
  await expect.poll(isMerged, { timeout: 150_000 }).toBe(204);
  await expect.poll(() => git(bare, 'branch', '--list', branch), { timeout: 150_000 }).toBe('');
  const subject = `Merge pull request '${branch}' (#${number}) from ${branch} into main`;
  expect(
    (await git(bare, 'log', '--format=%s', 'main')).split('\n').filter((one) => one === subject),
  ).toEqual([subject]);
  expect(await sql.rows`select * from :schema.scheduled_merges`).toEqual([]);
  expect(await sql.rows`select * from :schema.merges`).toEqual([]);
  expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
}

it('killed before anybody looked at a check that succeeded, it is merged by the next start', async () => {
  const { number, head } = await openScheduled('unseen');
  await expect.poll(() => sql.rows`select from :schema.outbox where topic = 'scheduled-merge'`).toEqual([]);
  await forge.kill();
  await sql.run`
    insert into :schema.commit_statuses
      (repository_id, sha, state, context, target_url, description, creator_id, created_at, updated_at)
    select id, ${head}, 'success', 'ci', '', '', owner_id, now(), now() from :schema.repositories`;
  await forge.start();
  await checkMerged(number, 'unseen');
});

it('killed between the move of the branch and its record, it is merged once and its branch deleted', async () => {
  const { number, head } = await openScheduled('halved');
  const before = await git(bare, 'rev-parse', 'main');
  await killDuring(forge, 'update on forge.pulls', async () => {
    await ada.call('POST', `${at}/statuses/${head}`, { context: 'ci', state: 'success' });
    await expect.poll(() => git(bare, 'rev-parse', 'main')).not.toBe(before);
  });
  await forge.start();
  await checkMerged(number, 'halved');
});
