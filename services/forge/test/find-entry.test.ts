import { randomBytes } from 'node:crypto';
import { temporaryFolder } from '@croft/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Git } from '../src/outside/git/git.ts';
import { blobObject, FOLDER, type RawEntry, rawTreeObject, writeObject } from '../src/outside/git/objects.ts';
import { findEntry } from '../src/outside/git/reading/trees.ts';
import { makeRepository } from '../src/outside/git/repository.ts';
import { ownGit } from './own-git.ts';

const stack = new AsyncDisposableStack();
let git: Git;
let root: string;
const file = blobObject('text');
const submodule = '1'.repeat(40);
/** Folders too large to be read in one piece, one in the other, below one that is small. */
const DEPTH = 4;
beforeAll(async () => {
  const folder = stack.use(await temporaryFolder()).path;
  git = await ownGit(stack, folder);
  await makeRepository(git, 1, 'main');
  await writeObject(git, 1, file);
  const others = Array.from({ length: 8000 }, (): [string, RawEntry] => [
    `x${randomBytes(8).toString('hex')}`,
    { mode: '100644', id: file.id },
  ]);
  let below: [string, RawEntry][] = [
    ['a b;*é', { mode: '100755', id: file.id }],
    ['linked', { mode: '120000', id: file.id }],
    ['module', { mode: '160000', id: submodule }],
  ].map(([name, entry]) => [Buffer.from(name as string).toString('latin1'), entry as RawEntry]);
  for (let depth = 0; depth <= DEPTH; depth++) {
    const tree = rawTreeObject(depth === DEPTH ? below : [...others, ...below]);
    await writeObject(git, 1, tree);
    below = [['d', { mode: FOLDER, id: tree.id }]];
    root = tree.id;
  }
});
afterAll(() => stack.disposeAsync());

const deep = 'd/'.repeat(DEPTH);

it.each([
  [`${deep}a b;*é`, { mode: '100755', type: 'blob', size: 4 }],
  [`${deep}linked`, { mode: '120000', type: 'blob', size: 4 }],
  [`${deep}module`, { mode: '160000', type: 'commit', id: submodule, size: 0 }],
  ['d/d', { mode: '040000', type: 'tree', size: 0 }],
  ['d', { mode: '040000', type: 'tree', size: 0 }],
])('%s is found, with one process at most', async (path, entry) => {
  await findEntry(git, 1, root, path);
  const started = vi.spyOn(git, 'start');
  expect(await findEntry(git, 1, root, path)).toMatchObject({ path, ...entry });
  expect(started.mock.calls.length).toBeLessThanOrEqual(1);
  started.mockRestore();
});

it.each([
  `${deep}none`,
  `${deep}module/x`,
  `${deep}linked/x`,
  `${deep}a b;*é/x`,
  `${deep}a*`,
  `${deep}:(glob)**`,
  'd/e/d',
  'e',
])('%s is not there', async (path) => {
  expect(await findEntry(git, 1, root, path)).toBeUndefined();
});
