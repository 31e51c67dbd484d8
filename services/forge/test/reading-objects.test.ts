import { temporaryFolder } from '@croft/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Git } from '../src/outside/git/git.ts';
import {
  blobObject,
  commitObject,
  type GitObject,
  treeObject,
  writeObject,
} from '../src/outside/git/objects.ts';
import { readSmallObjects } from '../src/outside/git/reading/objects.ts';
import { makeRepository } from '../src/outside/git/repository.ts';
import { ownGit } from './own-git.ts';

const ID = 1;
const LONG = 256 * 1024;
const stack = new AsyncDisposableStack();
let git: Git;
beforeAll(async () => {
  const folder = stack.use(await temporaryFolder()).path;
  git = await ownGit(stack, folder);
  await makeRepository(git, ID, 'main');
});
afterAll(() => stack.disposeAsync());

async function written(object: GitObject): Promise<GitObject> {
  await writeObject(git, ID, object);
  return object;
}
const author = { name: 'A', email: 'a@example.test', at: new Date(1_700_000_000_000) };
const commit = (message: string) =>
  commitObject({ tree: treeObject().id, parents: [], author, committer: author, message });
const contentOf = ({ bytes }: GitObject) => bytes.subarray(bytes.indexOf(0) + 1);

it('small objects are read in one way, in their order, also beside what is missing', async () => {
  const [one, other] = [await written(commit('one')), await written(treeObject(['a', blobObject('a').id]))];
  const conversation = await git.converse(ID, 'objects');
  const ask = vi.spyOn(conversation, 'ask');
  const read = await readSmallObjects(git, ID, [other.id, 'f'.repeat(40), one.id, `${one.id}^{tree}`]);
  expect(read.map((object) => object?.content)).toEqual([
    contentOf(other),
    undefined,
    contentOf(one),
    contentOf(treeObject()),
  ]);
  expect(read.map((object) => object?.type)).toEqual(['tree', undefined, 'commit', 'tree']);
  expect(ask.mock.calls.map(([question]) => question)).toEqual([
    `contents ${other.id}\n`,
    `contents ${'f'.repeat(40)}\n`,
    `contents ${one.id}\n`,
    `contents ${one.id}^{tree}\n`,
  ]);
  expect(await readSmallObjects(git, ID, [])).toEqual([]);
});

it('attack: a long object is not read to its end, and who asks beside it is answered all the same', async () => {
  const long = await written(commit('long '.repeat(LONG)));
  const small = await Promise.all(['x', 'y', 'z'].map((message) => written(commit(message))));
  const first = await git.converse(ID, 'objects');
  const [skipped, begun, ...others] = await Promise.all([
    readSmallObjects(git, ID, [long.id], 'skip'),
    readSmallObjects(git, ID, [long.id]),
    ...small.map(({ id }) => readSmallObjects(git, ID, [id])),
  ]);
  expect(skipped).toEqual([undefined]);
  expect(begun?.[0]?.content).toEqual(contentOf(long).subarray(0, LONG));
  expect(begun?.[0]?.size).toBe(contentOf(long).length);
  expect(others.map(([object]) => object?.content)).toEqual(small.map(contentOf));
  await first.ended;

  // It is known from then on, and costs nobody a process again.
  const second = await git.converse(ID, 'objects');
  expect(await readSmallObjects(git, ID, [long.id], 'skip')).toEqual([undefined]);
  expect(await git.converse(ID, 'objects')).toBe(second);
});
