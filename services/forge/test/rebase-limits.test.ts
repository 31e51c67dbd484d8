import { execFileSync } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { git, temporaryFolder } from '@croft/testing';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Git } from '../src/outside/git/git.ts';
import { type Rebased, writeRebase } from '../src/outside/git/merging/rebase.ts';
import { makeRepository } from '../src/outside/git/repository.ts';
import { ownGit } from './own-git.ts';
import { scriptedGit } from './scripted-git.ts';

/** Leaves a file for each program that reads a commit, and one more where it was not alone. */
const program = await scriptedGit(
  (folder) => `case "$*" in *"cat-file commit"*)
  mkdir ${folder}/reading || touch ${folder}/read-together
  touch ${folder}/read-$$
  git "$@"; code=$?
  rmdir ${folder}/reading
  exit $code
esac`,
);
const stack = new AsyncDisposableStack();
stack.use(program);
let driver: Git;
beforeAll(async () => {
  const { path } = stack.use(await temporaryFolder());
  driver = await ownGit(stack, path, { command: program.command });
});
afterAll(() => stack.disposeAsync());
const reads = async () => (await readdir(program.folder)).filter((name) => name.startsWith('read-'));
beforeEach(async () => {
  for (const name of await reads()) await rm(join(program.folder, name));
});

let repositories = 0;
/** A repository whose `topic` has commits with these messages, each with a file of its own, and whose main went on. */
async function makeLong(messages: readonly string[]) {
  const id = ++repositories;
  await makeRepository(driver, id, 'main');
  const bare = driver.folderOf(id);
  let time = 1_700_000_000;
  const write = (branch: string, message: string, path: string, from = '') =>
    `commit refs/heads/${branch}\ncommitter C <c@example.test> ${time++} +0000\ndata ${message.length}\n${message}\n${from}M 100644 inline ${path}\ndata 1\nx\n`;
  const commits = [
    write('main', 'first', 'first'),
    ...messages.map((message, index) =>
      write('topic', message, `${index % 50}/${index}`, index === 0 ? 'from refs/heads/main\n' : ''),
    ),
    write('main', 'second', 'second'),
  ];
  execFileSync('git', ['--git-dir', bare, 'fast-import', '--quiet'], { input: commits.join('') });
  const [onto, head] = (await git(bare, 'rev-parse', 'main', 'topic')).split('\n') as [string, string];
  const committer = { name: 'C', email: 'c@example.test', at: new Date(1_800_000_000_000) };
  return { id, bare, plan: { onto, head, committer } };
}

it.each([
  ['many', Array.from({ length: 5001 }, (_, index) => `commit ${index}`)],
  // A pack of some kilobytes.
  ['wordy', Array.from({ length: 17 }, (_, index) => `${index}\n\n${'x'.repeat(4 << 20)}`)],
])('too %s commits are not rebased, and none is read', async (_, messages) => {
  const { id, bare, plan } = await makeLong(messages);
  const stored = () => Promise.all([git(bare, 'for-each-ref'), git(bare, 'count-objects', '-v'), reads()]);
  const before = await stored();
  await expect(writeRebase(driver, id, plan)).rejects.toMatchObject({
    kind: 'conflict',
    code: 'rebase_too_large',
    message:
      'no more than 5000 commits, with 64 MB of messages, are rebased here: merge or squash them, or rebase and push them yourself',
  });
  expect(await stored()).toEqual(before);
});

it('commits of many words are read one after the other, and keep them', async () => {
  const messages = Array.from({ length: 120 }, (_, index) =>
    index % 20 === 0 ? `${index}\n\n${'long '.repeat(60_000)}` : `commit ${index}`,
  );
  const { id, bare, plan } = await makeLong(messages);
  const { tip } = (await writeRebase(driver, id, plan)) as Rebased;
  const started = await reads();
  expect([started.length, started.includes('read-together')]).toEqual([6, false]);
  const log = async (range: string) =>
    await git(bare, 'log', '--reverse', '--format=%an %at %B', '--name-status', range);
  // Of this length nobody wants to see the difference.
  expect((await log(`${plan.onto}..${tip}`)) === (await log('main..topic'))).toBe(true);
  expect(await git(bare, 'rev-list', '--count', `${plan.onto}..${tip}`)).toBe('120');
});
