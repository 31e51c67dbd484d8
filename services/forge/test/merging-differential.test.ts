import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { git as command, temporaryFolder } from '@croft/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Git } from '../src/outside/git/git.ts';
import { tryMerge, writeMerge } from '../src/outside/git/merging/merge.ts';
import { findMergeBase, listMergeBases, walkNewCommits } from '../src/outside/git/merging/merge-base.ts';
import { writeRebase } from '../src/outside/git/merging/rebase.ts';
import { commitObject, type Signature } from '../src/outside/git/objects.ts';
import { importOf } from './histories.ts';
import { ownGit } from './own-git.ts';

/*
 * Merges, squashes and rebases of histories made by chance, by us in a bare repository and by git in a work tree: the
 * trees are the same, and so is whether there are conflicts, and in which files.
 */
const HISTORIES = 240;
const SEEDS = Array.from({ length: HISTORIES }, (_, seed) => seed);
const REPOSITORY = 1;
const stack = new AsyncDisposableStack();
const ada: Signature = { name: 'Ada', email: 'ada@example.test', at: new Date('2026-01-02T03:04:05Z') };
const LOG = '--format=%an|%ae|%ad|%B|%T';
let git: Git;
let plain: Git;
let work: string;
let bare: string;
/** Of each history: what has main, what has the topic, and what is before that. */
let tips: string[];

beforeAll(async () => {
  const folder = stack.use(await temporaryFolder()).path;
  git = await ownGit(stack, folder);
  // As on a machine that has no stdbuf: one process for each merge.
  const tools = stack.use(await temporaryFolder()).path;
  await symlink(execFileSync('sh', ['-c', 'command -v git']).toString().trim(), join(tools, 'git'));
  plain = await ownGit(stack, folder, { searchPath: tools });
  work = join(folder, 'work');
  bare = join(folder, `${REPOSITORY}.git`);
  await command(folder, 'init', '-q', '-b', 'main', work);
  execFileSync('git', ['-C', work, 'fast-import', '--quiet'], { input: SEEDS.map(importOf).join('') });
  await command(folder, 'clone', '-q', '--bare', work, bare);
  const names = SEEDS.flatMap((seed) => [`main-${seed}`, `topic-${seed}`, `topic-${seed}^`]);
  tips = (await command(bare, 'rev-parse', ...names)).split('\n');
});
afterAll(async () => {
  await command(bare, 'fsck', '--strict');
  await stack.disposeAsync();
});

const tipsOf = (seed: number) => tips.slice(3 * seed, 3 * seed + 3) as [string, string, string];
const treeOf = (folder: string, commit: string) => command(folder, 'rev-parse', `${commit}^{tree}`);

/** What git itself makes of it in the work tree: a tree, or conflicts, which need not be in files. */
async function byHand(
  from: string,
  ...args: string[]
): Promise<{ tree: string } | { tree?: undefined; conflicts: string[] }> {
  await command(work, 'checkout', '-qf', '-B', 'by-hand', from);
  try {
    await command(work, ...args);
    if (args.includes('--squash')) return { tree: await command(work, 'write-tree') };
    return { tree: await treeOf(work, 'HEAD') };
  } catch {
    const lock = join(work, '.git', 'index.lock');
    const hasFallen = existsSync(lock);
    await rm(lock, { force: true });
    const listed = await command(work, 'diff', '--name-only', '--diff-filter=U', '-z');
    if (args[0] === 'rebase') await command(work, 'rebase', '--abort');
    // Over some folders that were moved git (2.39) fell in the work tree, and does not say over which files.
    if (hasFallen) return { conflicts: expect.any(Array) };
    // Where a file and a folder want to be, git gives the file the name of its side.
    const files = listed.split('\0').map((name) => name.replace(/~[^/]*$/, ''));
    return { conflicts: [...new Set(files.filter((name) => name !== ''))].sort() };
  } finally {
    await command(work, 'reset', '-q', '--hard');
    await command(work, 'clean', '-fdxq');
  }
}

let several = 0;
it('the best common ancestors are those that git finds, in its order', async () => {
  const [elsewhere] = tipsOf(0);
  for (const [main, topic, earlier] of SEEDS.map(tipsOf)) {
    for (const [a, b] of [
      [main, topic],
      [topic, main],
      [main, main],
      [main, earlier],
      [elsewhere, topic],
    ] as const) {
      const all = await command(bare, 'merge-base', '--all', a, b).catch(() => '');
      const ours = await listMergeBases(git, REPOSITORY, a, b);
      expect(ours).toEqual(all === '' ? [] : all.split('\n'));
      expect(await findMergeBase(git, REPOSITORY, a, b)).toBe(all.split('\n')[0] || undefined);
      if (ours.length > 1) several++;
      const gained = (await command(bare, 'rev-list', a, `^${b}`)).split('\n').filter((id) => id !== '');
      const walked = await walkNewCommits(git, REPOSITORY, a, [b]);
      expect(walked?.toSorted()).toEqual(gained.toSorted());
    }
  }
  expect(several).toBeGreaterThan(HISTORIES / 5);
}, 300_000);

let clean = 0;
let withoutFiles = 0;
it.each(SEEDS)('history %i: as git does it', async (seed) => {
  const [main, topic] = tipsOf(seed);

  const merged = await byHand(main, 'merge', '-q', '--no-ff', '-m', 'm', topic);
  for (const one of seed % 4 === 0 ? [git, plain] : [git]) {
    const ours = await tryMerge(one, REPOSITORY, main, topic);
    const outcome = ours.isClean ? { tree: ours.tree } : { conflicts: ours.conflicts.toSorted() };
    expect(outcome).toEqual(merged);
  }
  if (merged.tree !== undefined) {
    clean++;
    const { made } = await writeMerge(git, REPOSITORY, { ours: main, theirs: topic }, (tree) =>
      commitObject({ tree, parents: [main], author: ada, committer: ada, message: 'squashed' }),
    );
    expect(await treeOf(bare, `${made?.id}`)).toBe(merged.tree);
    expect((await byHand(main, 'merge', '-q', '--squash', topic)).tree).toBe(merged.tree);
  } else if (merged.conflicts.length === 0) withoutFiles++;

  const rebased = await byHand(topic, 'rebase', '-q', main);
  const log = await command(work, 'log', LOG, `${main}..by-hand`);
  const before = await command(bare, 'count-objects', '-v');
  for (const one of seed % 4 === 0 ? [plain, git] : [git]) {
    const ours = await writeRebase(one, REPOSITORY, { onto: main, head: topic, committer: ada });
    if (ours.conflict === undefined) {
      expect({ tree: ours.tree }).toEqual(rebased);
      expect(await command(bare, 'log', LOG, `${main}..${ours.tip}`)).toBe(log);
    } else {
      expect({ conflicts: ours.conflict.files.toSorted() }).toEqual(rebased);
      // Of what does not fit nothing stays.
      expect(await command(bare, 'count-objects', '-v')).toBe(before);
    }
  }
});

it('half of the histories merge, the other half have conflicts, some of them in no file', () => {
  expect(clean / HISTORIES).toBeGreaterThan(0.3);
  expect(clean / HISTORIES).toBeLessThan(0.8);
  expect(withoutFiles).toBeGreaterThan(HISTORIES / 20);
});
