import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { git as command, temporaryFolder } from '@croft/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Git } from '../src/outside/git/git.ts';
import { combineTrees } from '../src/outside/git/merging/combine-trees.ts';
import { inMergeRoom } from '../src/outside/git/merging/merge-room.ts';
import { writeObjects } from '../src/outside/git/objects.ts';
import { ownGit } from './own-git.ts';
import { type Commit, importOfTriples, TRIPLES } from './tree-triples.ts';

/*
 * Trees changed by both sides by chance: what is combined without git is what git makes of it, to the bit, and where git has
 * conflicts, nothing is.
 */
const REPOSITORY = 1;
const stack = new AsyncDisposableStack();
let git: Git;
let bare: string;
const ids = new Map<string, { commit: string; tree: string }>();

beforeAll(async () => {
  const folder = stack.use(await temporaryFolder()).path;
  git = await ownGit(stack, folder);
  bare = join(folder, `${REPOSITORY}.git`);
  await command(folder, 'init', '-q', '--bare', bare);
  execFileSync('git', ['--git-dir', bare, 'fast-import', '--quiet'], { input: importOfTriples() });
  const listed = await command(bare, 'for-each-ref', '--format=%(refname:lstrip=2) %(objectname) %(tree)');
  for (const line of listed.split('\n')) {
    const [name = '', commit = '', tree = ''] = line.split(' ');
    ids.set(name, { commit, tree });
  }
});
afterAll(async () => {
  await command(bare, 'fsck', '--strict');
  await stack.disposeAsync();
});

const idOf = (side: Commit, seed: number) => ids.get(`${side}-${seed}`) ?? { commit: '', tree: '' };
const count = { plain: 0, clean: 0, conflicts: 0 };

it('what is combined is what git makes of it', async () => {
  for (let seed = 0; seed < TRIPLES; seed++) {
    const [base, ours, theirs] = [idOf('base', seed), idOf('ours', seed), idOf('theirs', seed)];
    const sides = { base: base.tree, ours: ours.tree, theirs: theirs.tree };
    const combined = await combineTrees(git, REPOSITORY, sides);
    const byGit = await inMergeRoom(git, REPOSITORY, 'trials', ours.commit, (room) =>
      room.merge(ours.commit, theirs.commit),
    );
    if (!byGit.isClean) count.conflicts++;
    else count.clean++;
    if (combined === undefined) continue;
    count.plain++;
    expect({ seed, tree: combined.tree, isClean: true, conflicts: [] }).toEqual({ seed, ...byGit });
    await writeObjects(git, REPOSITORY, combined.objects);
    // All of it is there.
    if (seed % 50 === 0) await command(bare, 'ls-tree', '-r', combined.tree);
  }
}, 300_000);

it('which is often, and all kinds of outcomes are among them', () => {
  expect(count.plain).toBeGreaterThan(TRIPLES / 4);
  expect(count.clean).toBeGreaterThan(count.plain + TRIPLES / 20);
  expect(count.conflicts).toBeGreaterThan(TRIPLES / 10);
});
