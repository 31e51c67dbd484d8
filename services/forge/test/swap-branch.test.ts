import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { git as command, temporaryFolder } from '@croft/testing';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Git } from '../src/outside/git/git.ts';
import { removeLeftovers } from '../src/outside/git/leftovers.ts';
import { commitObject, treeObject, writeObject } from '../src/outside/git/objects.ts';
import { branchRef, moveRefs, NO_COMMIT, readRef } from '../src/outside/git/refs.ts';
import { makeRepository } from '../src/outside/git/repository.ts';
import { ownGit } from './own-git.ts';

// A branch that moves to a commit while that is still being written.

const ID = 1;
const REF = branchRef('deep/main');
const stack = new AsyncDisposableStack();
let git: Git;
let bare: string;
/** Two commits, and one that nobody has written. */
let [before, after, absent]: [string, string, string] = ['', '', ''];

beforeAll(async () => {
  const folder = stack.use(await temporaryFolder()).path;
  git = await ownGit(stack, folder);
  await makeRepository(git, ID, 'deep/main');
  bare = git.folderOf(ID);
  const tree = treeObject();
  await writeObject(git, ID, tree);
  const author = { name: 'A', email: 'a@example.test', at: new Date(1_700_000_000_000) };
  const [one, other, third] = ['one', 'other', 'third'].map((message) =>
    commitObject({ tree: tree.id, parents: [], author, committer: author, message }),
  );
  if (one === undefined || other === undefined || third === undefined) throw new Error('no commits');
  for (const object of [one, other]) await writeObject(git, ID, object);
  [before, after, absent] = [one.id, other.id, third.id];
});
afterAll(() => stack.disposeAsync());

beforeEach(async () => {
  rmSync(lock(), { force: true });
  await moveRefs(git, ID, [{ ref: REF, new: before }]);
});

const lock = () => join(bare, `${REF}.lock`);
const move = (written: Promise<void>, old = before) =>
  moveRefs(git, ID, [{ ref: REF, old, new: after }], { written });
/** The branch as git reads it, and files that nobody needs any more; empty ones are kept at hand. */
const look = async () => ({
  tip: await command(bare, 'rev-parse', REF),
  left: readdirSync(bare, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.lock') || (name.includes('tmp_') && statSync(join(bare, name)).size > 0),
  ),
});

it('moves when the commit is there, and not before', async () => {
  const { promise: written, resolve } = Promise.withResolvers<void>();
  const moving = move(written);
  await new Promise((done) => setTimeout(done, 50));
  expect((await look()).tip).toBe(before);
  resolve();
  expect(await moving).toBe('done');
  expect(await look()).toEqual({ tip: after, left: [] });
  expect(await readRef(git, ID, REF)).toBe(after);
  expect(readFileSync(join(bare, REF), 'utf8')).toBe(`${after}\n`);
});

it('stays where it is when the commit could not be written', async () => {
  await expect(move(Promise.reject(new Error('the disk is full')))).rejects.toThrow('the disk is full');
  expect(await look()).toEqual({ tip: before, left: [] });
});

it('moves nothing that was not announced, and takes no lock for it', async () => {
  const { promise: announced, reject } = Promise.withResolvers<void>();
  const underWay = { announced, written: Promise.resolve() };
  const moving = moveRefs(git, ID, [{ ref: REF, old: before, new: after }], underWay);
  await new Promise((done) => setTimeout(done, 50));
  expect((await look()).left.filter((name) => name.endsWith('.lock'))).toEqual([]);
  reject(new Error('no longer open'));
  await expect(moving).rejects.toThrow('no longer open');
  expect(await look()).toEqual({ tip: before, left: [] });
});

it('stays where somebody else has moved it', async () => {
  expect(await move(Promise.resolve(), absent)).toBe('moved');
  expect(await move(Promise.resolve(), NO_COMMIT)).toBe('moved');
  expect(await look()).toEqual({ tip: before, left: [] });
});

it('moves one of many that do the same', async () => {
  const moves = await Promise.all(Array.from({ length: 20 }, () => move(Promise.resolve())));
  expect(moves.filter((moved) => moved === 'done').length).toBeGreaterThanOrEqual(1);
  expect(await look()).toEqual({ tip: after, left: [] });
});

it('moves where only the packed refs know it', async () => {
  await command(bare, 'pack-refs', '--all', '--prune');
  expect(await move(Promise.resolve())).toBe('done');
  expect(await look()).toEqual({ tip: after, left: [] });
  await command(bare, 'pack-refs', '--all', '--prune');
  expect(await command(bare, 'rev-parse', REF)).toBe(after);
});

it('waits for git to judge while somebody holds its lock, and takes no lock of others away', async () => {
  writeFileSync(lock(), '');
  expect(await move(Promise.resolve())).toBe('moved');
  expect(await look()).toEqual({ tip: before, left: [`${REF}.lock`] });
});

it('keeps what it points to when it points to another branch', async () => {
  const other = branchRef('other');
  await moveRefs(git, ID, [{ ref: other, new: before }]);
  writeFileSync(join(bare, REF), `ref: ${other}\n`);
  expect(await move(Promise.resolve())).toBe('done');
  expect(await command(bare, 'rev-parse', other)).toBe(after);
  expect(readFileSync(join(bare, REF), 'utf8')).toBe(`ref: ${other}\n`);
  writeFileSync(join(bare, REF), `${before}\n`);
});

it('a lock that is ours goes at start, and that of another only when it is old', async () => {
  writeFileSync(lock(), `${after}\n`);
  await removeLeftovers(git, ID, { ours: before });
  expect((await look()).left).toEqual([`${REF}.lock`]);
  await removeLeftovers(git, ID, { ours: after });
  expect((await look()).left).toEqual([]);
  writeFileSync(lock(), '');
  const longAgo = new Date(Date.now() - 60_000);
  utimesSync(lock(), longAgo, longAgo);
  await removeLeftovers(git, ID, { ours: after });
  expect((await look()).left).toEqual([]);
});

it('is elsewhere when another took a part of its name, or its name for a part of his', async () => {
  const ref = branchRef('other');
  await moveRefs(git, ID, [{ ref, new: before }]);
  const written = Promise.resolve();
  for (const name of [`${ref}/below`, branchRef('deep')])
    for (const old of [before, NO_COMMIT]) {
      const change = { ref: name, old, new: after };
      expect([name, await moveRefs(git, ID, [change])]).toEqual([name, 'moved']);
      expect([name, await moveRefs(git, ID, [change], { written })]).toEqual([name, 'moved']);
    }
  expect(await look()).toEqual({ tip: before, left: [] });
  expect(await readRef(git, ID, ref)).toBe(before);
});
