import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '@croft/testing';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { commit, pushBranch, pushedRepository } from './forge.ts';
import { REQUIRED, useMergeQueues } from './merge-queue-scene.ts';
import { rowsOf } from './rows-of.ts';
import { scriptedGit } from './scripted-git.ts';

/** While a file is there, merging takes more memory than there is. */
const program = await scriptedGit(
  (folder) => `if [ -e ${folder}/full ]; then
  for word in "$@"; do
    [ "$word" = merge-tree ] && touch ${folder}/refused && echo 'fatal: Out of memory, malloc failed' >&2 && exit 128
  done
fi`,
);
afterAll(() => program[Symbol.asyncDispose]());
const { scene, people, queued } = useMergeQueues({ environment: { FORGE_GIT_COMMAND: program.command } });
const full = join(program.folder, 'full');
/** A file of which two people can change one end each. */
const lines = (first: string, last: string) => ({ 'lines.txt': `${first}\n2\n3\n4\n5\n6\n7\n${last}\n` });

/** With these git is started for each merge. */
const ATTRIBUTES = { '.gitattributes': '*.bin binary\n' };
beforeEach(async () => {
  for (const file of [full, join(program.folder, 'refused')]) await rm(file, { force: true });
});

/** Something new on a branch. */
async function push(tree: string, branch: string, files: Record<string, string>): Promise<void> {
  await git(tree, 'checkout', '-q', branch);
  await commit(tree, files, `on ${branch}`);
  await git(tree, 'push', '-q', 'origin', branch);
}

/** A pull request whose merge is one of contents. */
async function openTopic(tree: string, at: string): Promise<number> {
  await push(tree, 'main', { ...lines('1', '8'), ...ATTRIBUTES });
  await pushBranch(tree, 'topic', lines('1', 'x'));
  await push(tree, 'main', lines('y', '8'));
  const opened = { title: 'topic', head: 'topic', base: 'main' };
  return (await people.ada.call('POST', `${at}/pulls`, opened)).body.number;
}

it('a scheduled merge for which git has not the memory is tried again until there is', async () => {
  const { ada } = people;
  const tree = await pushedRepository(ada, 'patient', scene.folder);
  const at = '/repos/ada/patient';
  const number = await openTopic(tree, at);
  const head = await git(tree, 'rev-parse', 'topic');
  const protection = { rule_name: 'main', enable_push: true, ...REQUIRED };
  expect((await ada.call('POST', `${at}/branch_protections`, protection)).status).toBe(201);
  const scheduled = { Do: 'merge', merge_when_checks_succeed: true };
  expect((await ada.call('POST', `${at}/pulls/${number}/merge`, scheduled)).status).toBe(201);
  await push(tree, 'main', { 'other.txt': 'so that it is another merge' });
  const waiting = () => scene.sql.rows<{ last_error: string | null }>`
    select last_error from :schema.outbox where topic = 'scheduled-merge'`;
  await expect.poll(waiting).toEqual([]);
  const before = await rowsOf(scene, 'scheduled_merges', 'merges');
  await writeFile(full, '');
  await ada.call('POST', `${at}/statuses/${head}`, { state: 'success', context: 'ci' });
  await expect
    .poll(async () => (await waiting())[0]?.last_error ?? '')
    .toContain('git has not the memory or the time');
  expect(await rowsOf(scene, 'scheduled_merges', 'merges')).toEqual(before);
  expect((await ada.call('GET', `${at}/pulls/${number}`)).body).toMatchObject({ merged: false });
  await rm(full);
  const isMerged = async () => (await ada.call('GET', `${at}/pulls/${number}/merge`)).status;
  await expect.poll(isMerged).toBe(204);
});

describe('one in a merge queue', () => {
  it('is tried again', async () => {
    const { merge, isMerged, made, report, timeline, tree, list, main, at } = await queued(
      'retried',
      REQUIRED,
    );
    const number = await openTopic(tree, at);
    await writeFile(full, '');
    expect((await merge(number)).status).toBe(201);
    await expect.poll(() => readdir(program.folder)).toContain('refused');
    expect([await list(), await isMerged(number)]).toMatchObject([[{ number, sha: '' }], false]);
    await rm(full);
    // Has the queue looked at again, which takes ten seconds otherwise.
    await report(await main(), 'success', 'other');
    await report(await made(number), 'success');
    await expect.poll(() => isMerged(number)).toBe(true);
    expect(JSON.stringify(await timeline(number))).not.toContain('Removed');
  });

  it('leaves it where that does not help', async () => {
    const { merge, isMerged, made, timeline, tree, list, at } = await queued('left', REQUIRED);
    const number = await openTopic(tree, at);
    expect((await merge(number)).status).toBe(201);
    await made(number);
    await writeFile(full, '');
    await push(tree, 'main', { 'other.txt': 'so that it has to be made anew' });
    const reason =
      'Removed from the merge queue of main: git has not the memory or the time to merge this now';
    // Three attempts, each some seconds after the one before.
    await expect
      .poll(() => timeline(number), { timeout: 90_000, interval: 500 })
      .toContainEqual(['pull_cancel_scheduled_merge', reason]);
    await rm(full);
    expect([await list(), await isMerged(number)]).toEqual([[], false]);
  }, 150_000);
});
