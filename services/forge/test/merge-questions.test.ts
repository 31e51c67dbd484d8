import { execFileSync } from 'node:child_process';
import { temporaryFolder } from '@croft/testing';
import { afterEach, expect, it, vi } from 'vitest';
import { hasCommit, writeMerge } from '../src/outside/git/merging/merge.ts';
import { commitObject } from '../src/outside/git/objects.ts';
import { readRefs } from '../src/outside/git/refs.ts';
import { makeRepository } from '../src/outside/git/repository.ts';
import { ownGit } from './own-git.ts';

afterEach(() => void vi.restoreAllMocks());

const REPOSITORY = 1;
/** Nobody has read any of these before. */
const HISTORY = ['main', 'ours', 'theirs']
  .map((branch) => {
    const from = branch === 'main' ? '' : 'from refs/heads/main\n';
    const file = (path: string) => `M 100644 inline ${path}\ndata ${path.length}\n${path}\n`;
    const files = ['d/e/a', `d/e/${branch}`, 'f'].map(file).join('');
    const head = `commit refs/heads/${branch}\ncommitter C <c@example.test> 1700000000 +0000\n`;
    return `${head}data ${branch.length}\n${branch}\n${from}${files}\n`;
  })
  .join('');

it('a plain merge waits for git once for the commits with their trees, and once for each level of folders', async () => {
  await using folder = await temporaryFolder();
  await using stack = new AsyncDisposableStack();
  const git = await ownGit(stack, folder.path);
  await makeRepository(git, REPOSITORY, 'main');
  const bare = git.folderOf(REPOSITORY);
  execFileSync('git', ['--git-dir', bare, 'fast-import', '--quiet'], { input: HISTORY });
  const heads = await readRefs(git, REPOSITORY, ['refs/heads/ours', 'refs/heads/theirs']);
  const [ours = '', theirs = ''] = heads;

  // What is asked when an answer is there waits once more, however the answers were cut into pieces.
  let waits = 0;
  let answered = 0;
  const conversation = await git.converse(REPOSITORY, 'objects');
  const ask = conversation.ask.bind(conversation);
  vi.spyOn(conversation, 'ask').mockImplementation((...question) => {
    const wait = answered + 1;
    waits = Math.max(waits, wait);
    const asked = ask(...question);
    void asked.then(() => {
      answered = Math.max(answered, wait);
    });
    return asked;
  });
  const who = { name: 'C', email: 'c@example.test', at: new Date(1_700_000_001_000) };
  const { made } = await writeMerge(git, REPOSITORY, { ours, theirs }, (tree) =>
    commitObject({ tree, parents: [ours, theirs], author: who, committer: who, message: 'm' }),
  );

  const listed = execFileSync('git', ['--git-dir', bare, 'ls-tree', '-r', '--name-only', `${made?.id}`]);
  expect(listed.toString().split('\n').filter(Boolean)).toEqual([
    'd/e/a',
    'd/e/main',
    'd/e/ours',
    'd/e/theirs',
    'f',
  ]);
  // The merge base and its tree, too, are new here, in a wait of their own.
  expect(waits).toBe(1 + 1 + 1 + 2);
});

it('whether a branch has a commit takes no program, unless there is no such commit', async () => {
  await using folder = await temporaryFolder();
  await using stack = new AsyncDisposableStack();
  const git = await ownGit(stack, folder.path);
  await makeRepository(git, REPOSITORY, 'main');
  execFileSync('git', ['--git-dir', git.folderOf(REPOSITORY), 'fast-import', '--quiet'], { input: HISTORY });
  const branches = ['main', 'ours', 'theirs'].map((branch) => `refs/heads/${branch}`);
  const [main = '', ours = '', theirs = ''] = await readRefs(git, REPOSITORY, branches);
  const programs = vi.spyOn(git, 'start');
  const has = (tip: string, one: string) => hasCommit(git, REPOSITORY, tip, one);
  expect(await Promise.all([has(ours, main), has(ours, ours)])).toEqual([true, true]);
  expect(await Promise.all([has(main, ours), has(ours, theirs)])).toEqual([false, false]);
  expect(programs).not.toHaveBeenCalled();
  expect(await has(main, '1'.repeat(40))).toBe(false);
});
