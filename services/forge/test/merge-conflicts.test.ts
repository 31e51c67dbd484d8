import { execFileSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git as command, temporaryFolder } from '@croft/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Git } from '../src/outside/git/git.ts';
import { tryMerge, writeMerge } from '../src/outside/git/merging/merge.ts';
import { mergeAlone } from '../src/outside/git/merging/merge-alone.ts';
import { listMergedPaths } from '../src/outside/git/merging/merged-paths.ts';
import { writeRebase } from '../src/outside/git/merging/rebase.ts';
import { trySquash, writeSquash } from '../src/outside/git/merging/squash.ts';
import { commitObject, type Signature } from '../src/outside/git/objects.ts';
import { MergeOutlooks } from '../src/pulls/merge-outlook.ts';
import { ownGit } from './own-git.ts';
import { type ScriptedGit, scriptedGit } from './scripted-git.ts';

/* Merges that have conflicts in no file or in millions, and those that git has not the memory for or falls over. */
const ada: Signature = { name: 'Ada', email: 'ada@example.test', at: new Date('2026-01-02T03:04:05Z') };
const SOON = { timeout: 30_000 };
const stack = new AsyncDisposableStack();
let script: ScriptedGit;
let git: Git;
/** As where no stdbuf is: one process for each merge. */
let plain: Git;
let bare: string;

beforeAll(async () => {
  const folder = stack.use(await temporaryFolder()).path;
  script = stack.use(
    await scriptedGit(
      (within) => `for word in "$@"; do
  [ "$word" = merge-tree ] && [ -e ${within}/full ] && echo 'fatal: Out of memory, malloc failed' >&2 && exit 128
  [ "$word" = merge-tree ] && [ -e ${within}/broken ] && echo 'git: Assertion failed.' >&2 && kill -ABRT $$
done`,
    ),
  );
  git = await ownGit(stack, folder, { command: script.command });
  plain = await ownGit(stack, folder, { command: script.command });
  Object.defineProperty(plain, 'hasUnbufferedMerges', { value: false });
  bare = join(folder, '1.git');
  await command(folder, 'init', '-q', '--bare', '-b', 'main', bare);
});
afterAll(() => stack.disposeAsync());
afterEach(async () => {
  vi.restoreAllMocks();
  for (const name of ['full', 'broken']) await rm(join(script.folder, name), { force: true });
});

const object = (type: string, input: string | Buffer) =>
  execFileSync('git', ['--git-dir', bare, 'hash-object', '-w', '-t', type, '--stdin'], { input })
    .toString()
    .trim();
/** A tree of so many entries that are all the same, as deep as wanted. */
function bomb(content: string | Buffer, entries: number, depth: number, name = 'entry'): string {
  let [id, kind] = [object('blob', content), '100644 blob'];
  for (let level = 0; level < depth; level++) {
    const lines = Array.from({ length: entries }, (_, n) => `${kind} ${id}\t${name}-${n}\n`);
    id = execFileSync('git', ['--git-dir', bare, 'mktree'], { input: lines.join('') })
      .toString()
      .trim();
    kind = '040000 tree';
  }
  return id;
}
const commit = (tree: string, ...parents: string[]) =>
  object(
    'commit',
    [
      `tree ${tree}`,
      ...parents.map((id) => `parent ${id}`),
      'author A <a@x> 1 +0000',
      'committer A <a@x> 1 +0000',
      '',
      'm\n',
    ].join('\n'),
  );
/** Of files and what is in them. */
function treeOf(files: Record<string, string | Buffer>): string {
  const index = { ...process.env, GIT_INDEX_FILE: join(bare, 'index-of-tests') };
  const run = (args: string[], input = '') =>
    execFileSync('git', ['--git-dir', bare, ...args], { input, env: index })
      .toString()
      .trim();
  run(['read-tree', '--empty']);
  const lines = Object.entries(files).map(
    ([path, content]) => `100644 ${object('blob', content)}\t${path}\n`,
  );
  run(['update-index', '--index-info'], lines.join(''));
  return run(['write-tree']);
}
function sidesOf(base: string, one: string, other: string) {
  const from = commit(base);
  return { base: from, ours: commit(one, from), theirs: commit(other, from) };
}
const toCommit = (parent: string) => (tree: string) =>
  commitObject({ tree, parents: [parent], author: ada, committer: ada, message: 'made' });
const stored = () => command(bare, 'count-objects', '-v');
const large = (last: string) => Buffer.concat([Buffer.alloc(1024 * 1024, 'x\n'), Buffer.from(last)]);

describe('a folder that one side moved to two places, with a file that the other added', () => {
  const files = { 'd/1': 'one\n', 'd/2': 'two\n', 'd/3': 'three\n', 'd/4': 'four\n' };
  const moved = { 'a/1': 'one\n', 'a/2': 'two\n', 'b/3': 'three\n', 'b/4': 'four\n' };
  const split = () => sidesOf(treeOf(files), treeOf(moved), treeOf({ ...files, 'd/new': 'new\n' }));

  it.each([
    ['in a conversation', () => git],
    ['alone', () => plain],
  ])('is a conflict in no file for every kind of merge, %s', async (_, which) => {
    const { base, ours, theirs } = split();
    const before = await stored();
    const one = which();
    expect(await tryMerge(one, 1, ours, theirs)).toMatchObject({ isClean: false, conflicts: [] });
    expect(await writeMerge(one, 1, { ours, theirs }, toCommit(ours))).toEqual({ conflicts: [] });
    const change = { from: base, to: theirs, onto: ours };
    expect(await trySquash(one, 1, change)).toMatchObject({ isClean: false, conflicts: [] });
    expect(await writeSquash(one, 1, change, toCommit(ours))).toEqual({ conflicts: [] });
    expect(await writeRebase(one, 1, { onto: ours, head: theirs, committer: ada })).toEqual({
      conflict: { commit: theirs, files: [] },
    });
    expect(await stored()).toBe(before);
    const outlook = await new MergeOutlooks(one).of(1, ours, theirs);
    expect(outlook).toEqual({ mergeBase: base, outcome: 'conflicts', conflicts: [] });
  });
});

describe('trees that name each other', () => {
  it.each([
    ['in a conversation', () => git],
    ['alone', () => plain],
  ])('conflict in thousands of files, of which a hundred have a name, %s', async (_, which) => {
    const name = 'n'.repeat(200);
    const trees = ['base\n', 'ours\n', 'theirs\n'].map((content) => bomb(content, 12, 3, name));
    const { ours, theirs } = sidesOf(...(trees as [string, string, string]));
    const before = await stored();
    const tried = await tryMerge(which(), 1, ours, theirs);
    expect(tried.isClean).toBe(false);
    expect(tried.conflicts).toHaveLength(100);
    expect(await stored()).toBe(before);
    // The next answer begins where that one ended.
    const small = sidesOf(treeOf({ f: '1\n' }), treeOf({ f: '2\n' }), treeOf({ f: '3\n' }));
    expect((await tryMerge(which(), 1, small.ours, small.theirs)).conflicts).toEqual(['f']);
  });

  it('are not looked through for large files', async () => {
    const [base, one, other] = ['1', '2', '3'].map((last) => bomb(large(last), 25, 4));
    const { ours, theirs } = sidesOf(`${base}`, `${one}`, `${other}`);
    await writeFile(join(script.folder, 'full'), '');
    const merge = { topic: 'trials' as const, ours, theirs, environment: {} };
    await expect(mergeAlone(git, 1, merge)).rejects.toMatchObject({ code: 'merge_too_much' });
  }, 60_000);

  it('are too many paths that a merge would change', async () => {
    const { ours, theirs } = sidesOf(treeOf({ f: '1\n' }), treeOf({ f: '1\n', g: '2\n' }), bomb('x', 25, 4));
    expect(await listMergedPaths(git, 1, ours, commit(treeOf({ f: '1\n', h: '1\n' }), theirs))).toBeDefined();
    expect(await listMergedPaths(git, 1, ours, theirs)).toBeUndefined();
  }, 60_000);
});

it.each([
  ['in a conversation', () => git],
  ['alone', () => plain],
])('what git falls over is a conflict in no file, %s', async (_, which) => {
  const { ours, theirs } = sidesOf(
    treeOf({ f: '1\n2\n3\n4\n' }),
    treeOf({ f: 'x\n2\n3\n4\n' }),
    treeOf({ f: '1\n2\n3\ny\n' }),
  );
  await writeFile(join(script.folder, 'broken'), '');
  await which().forget(1);
  const before = await stored();
  expect(await tryMerge(which(), 1, ours, theirs)).toEqual({ tree: theirs, isClean: false, conflicts: [] });
  expect(await writeMerge(which(), 1, { ours, theirs }, toCommit(ours))).toEqual({ conflicts: [] });
  expect(await stored()).toBe(before);
});

it('folders that were moved into each other merge or do not, as git can', async () => {
  // git before 2.51 falls over them.
  const base = treeOf({
    'A/file1': 'one',
    'A/stuff': 'a',
    'B/file1': 'two',
    'B/stuff': 'b',
    'C/other': 'other',
  });
  const main = treeOf({ 'A/stuff': 'a', 'C/file1': 'two', 'B/stuff': 'b', 'C/other': 'other' });
  const topic = treeOf({
    'D/file2': 'one',
    'A/stuff': 'a',
    'B/file1': 'two',
    'B/stuff': 'b',
    'A/other': 'other',
  });
  const { ours, theirs } = sidesOf(base, main, topic);
  const byGit = await command(bare, 'merge-tree', '--write-tree', ours, theirs).then(
    () => true,
    () => false,
  );
  for (const one of [git, plain]) expect((await tryMerge(one, 1, ours, theirs)).isClean).toBe(byGit);
});

it('an object that is lost is no conflict, and said to be damage', async () => {
  const { ours, theirs } = sidesOf(
    treeOf({ f: '1\n2\n3\n4\n' }),
    treeOf({ f: 'lost\n2\n3\n4\n' }),
    treeOf({ f: '1\n2\n3\nz\n' }),
  );
  const lost = object('blob', 'lost\n2\n3\n4\n');
  await rm(join(bare, 'objects', lost.slice(0, 2), lost.slice(2)));
  for (const one of [git, plain])
    await expect(tryMerge(one, 1, ours, theirs)).rejects.toMatchObject({
      name: 'GitFailed',
      isForDamage: true,
    });
});

it('what there was no memory for is remembered for a minute, and then tried again', async () => {
  const changed = (first: string, last: string) => Buffer.concat([Buffer.from(first), large(last)]);
  const of = (first: string, last: string) => treeOf({ large: changed(first, last) });
  const { ours, theirs } = sidesOf(of('1\n', '1\n'), of('2\n', '1\n'), of('1\n', '2\n'));
  const outlooks = new MergeOutlooks(git);
  await writeFile(join(script.folder, 'full'), '');
  await git.forget(1);
  expect(await outlooks.of(1, ours, theirs)).toMatchObject({ outcome: 'conflicts', conflicts: ['large'] });
  await rm(join(script.folder, 'full'));
  expect(await outlooks.of(1, ours, theirs)).toMatchObject({ outcome: 'conflicts' });
  const now = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => now + 600_000);
  await expect
    .poll(() => outlooks.of(1, ours, theirs), SOON)
    .toMatchObject({ outcome: 'clean', conflicts: [] });
});
