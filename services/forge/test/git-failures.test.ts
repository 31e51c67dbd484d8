import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog } from '@croft/runtime';
import { git as command, temporaryFolder } from '@croft/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Context } from '../src/context.ts';
import { listRefs as listAllRefs, readHead } from '../src/outside/git/copy.ts';
import type { Git } from '../src/outside/git/git.ts';
import { findAttributes } from '../src/outside/git/merging/attributes.ts';
import { findMergeBase } from '../src/outside/git/merging/merge-base.ts';
import { writeRebase } from '../src/outside/git/merging/rebase.ts';
import {
  blobObject,
  commitObject,
  FOLDER,
  loosePath,
  rawTreeObject,
  treeObject,
  writeObject,
} from '../src/outside/git/objects.ts';
import { listRefs, listTips } from '../src/outside/git/reading/list-refs.ts';
import { listNewCommits } from '../src/outside/git/reading/new-commits.ts';
import { describeObject, readObject, readSmallObjects } from '../src/outside/git/reading/objects.ts';
import { areReached, followRefs, isReached, typesOf } from '../src/outside/git/reading/resolve.ts';
import { findEntry } from '../src/outside/git/reading/trees.ts';
import {
  branchRef,
  listBranches,
  moveRefs,
  NO_COMMIT,
  readRef,
  readRefIds,
  readRefs,
} from '../src/outside/git/refs.ts';
import { makeRepository } from '../src/outside/git/repository.ts';
import { describePush } from '../src/pulls/describe-push.ts';
import type { PullRow } from '../src/store/pulls/pulls.ts';
import { type FailingGit, failingGit, READING } from './failing-git.ts';
import { ownGit } from './own-git.ts';

// A git that cannot run says nothing: that is no list without branches, no ref that is missing and no object that is.

const stack = new AsyncDisposableStack();
const ada = { name: 'Ada', email: 'ada@example.test', at: new Date('2026-01-02T03:04:05Z') };
let failing: FailingGit;
let git: Git;
let first: string;
let second: string;
let long: string;
let folderOfMany: string;
beforeAll(async () => {
  failing = stack.use(await failingGit());
  const folder = stack.use(await temporaryFolder()).path;
  git = await ownGit(stack, folder, { command: failing.command });
  await makeRepository(git, 1, 'main');
  first = await write('one', []);
  second = await write('two', [first]);
  const blob = blobObject('x'.repeat(300_000));
  await writeObject(git, 1, blob);
  long = blob.id;
  const names = Array.from({ length: 8000 }, (_, n) => `file-${n}`).sort();
  const many = rawTreeObject(names.map((name) => [name, { mode: '100644', id: long }]));
  await writeObject(git, 1, many);
  folderOfMany = many.id;
  await moveRefs(git, 1, [
    { ref: branchRef('main'), new: first, old: NO_COMMIT },
    { ref: branchRef('topic'), new: second, old: NO_COMMIT },
    { ref: described(), new: second, old: NO_COMMIT },
  ]);
});
afterAll(() => stack.disposeAsync());
beforeEach(() => git.forget(1));
afterEach(() => failing.recover());

async function write(content: string, parents: string[], message = content): Promise<string> {
  const blob = blobObject(content);
  const tree = treeObject(['file', blob.id]);
  const commit = commitObject({ tree: tree.id, parents, author: ada, committer: ada, message });
  for (const object of [blob, tree, commit]) await writeObject(git, 1, object);
  return commit.id;
}
/** A branch whose name git could read as the description of a commit. */
const described = () => branchRef(`x-g${first.slice(0, 7)}`);
const [main, topic, none] = [branchRef('main'), branchRef('topic'), branchRef('none')];
const noOther = { upstream: undefined };

describe('is told of a git that cannot run', () => {
  const all = { offset: 0, limit: 10 };
  const questions: [string, () => Promise<unknown>, () => unknown][] = [
    ['listBranches', () => listBranches(git, 1), () => ['main', 'topic', described().slice(11)]],
    ['readRefs', () => readRefs(git, 1, [main, none]), () => [first, undefined]],
    ['readRefs of what looks like a description', () => readRef(git, 1, described()), () => second],
    ['readRefIds', () => readRefIds(git, 1, [topic, none]), () => new Map([[topic, second]])],
    [
      'followRefs',
      () => followRefs(git, 1, [main, described(), none, `${described()}0`]),
      () => [first, second, undefined, undefined],
    ],
    ['a page of refs', async () => (await listRefs(git, 1, 'refs/heads', all)).total, () => 3],
    ['listTips', () => listTips(git, 1), () => new Set([first, second])],
    ['all refs', async () => (await listAllRefs(git, 1, ['refs/heads'])).length, () => 3],
    ['typesOf', () => typesOf(git, 1, [first, NO_COMMIT]), () => new Map([[first, 'commit']])],
    ['describeObject', async () => (await describeObject(git, 1, second))?.type, () => 'commit'],
    ['describeObject of none', () => describeObject(git, 1, '1'.repeat(40)), () => undefined],
    ['the start of a long object', async () => (await readObject(git, 1, long))?.size, () => 300_000],
    ['small objects', async () => (await readSmallObjects(git, 1, [second]))[0]?.id, () => second],
    ['isReached', () => isReached(git, 1, second), () => true],
    ['areReached', () => areReached(git, 1, [first, second]), () => true],
    ['listNewCommits', () => listNewCommits(git, 1, second, [first]), () => [second]],
  ];
  it.each(questions)('%s', async (_, ask, answer) => {
    await failing.fail(...READING);
    await expect(ask()).rejects.toThrow(/git (\S+ of repository 1 failed|ended)/);
    await failing.recover();
    expect(await ask()).toEqual(answer());
  });

  it('who looks for something in a folder too long for a conversation', async () => {
    const root = rawTreeObject([['many', { mode: FOLDER, id: folderOfMany }]]);
    await writeObject(git, 1, root);
    await failing.fail('ls-tree');
    await expect(findEntry(git, 1, root.id, 'many/file-7')).rejects.toThrow('git ls-tree');
    const commit = commitObject({
      tree: folderOfMany,
      parents: [],
      author: ada,
      committer: ada,
      message: 'x',
    });
    await writeObject(git, 1, commit);
    await expect(findAttributes(git, 1, commit.id)).rejects.toThrow('cannot be read');
    await failing.recover();
    expect(await findEntry(git, 1, root.id, 'many/file-7')).toMatchObject({ id: long });
    expect(await findAttributes(git, 1, commit.id)).toEqual([]);
  });

  it('who rebases a commit of many words, which is not cut', async () => {
    const words = 'word '.repeat(60_000);
    const [onto, head] = [await write('onto', [first]), await write('one', [first], words)];
    const plan = { onto, head, committer: ada, ...noOther };
    // The rest of it comes from a process of its own.
    await failing.fail('commit');
    await expect(writeRebase(git, 1, plan)).rejects.toThrow('failed');
    await failing.recover();
    const { tip } = (await writeRebase(git, 1, plan)) as { tip: string };
    expect(tip).toMatch(/^[0-9a-f]{40}$/);
  });
});

describe('what a push brought', () => {
  const describeTo = (before: string, after: string) => {
    const pull = { repository_id: 1, head_sha: before, base_branch: 'main' };
    return describePush({ git, log: silentLog } as unknown as Context, pull as unknown as PullRow, after);
  };
  const entry = (isForced: boolean, commits: string[]) => ({
    kind: 'pull_push',
    details: { is_force_push: isForced, commit_ids: commits },
  });

  it.each([
    ['cat-file', true],
    ['rev-list', false],
  ])('is told by both heads or not at all when %s cannot be asked', async (program, byHeads) => {
    const [base, head] = [await write(`${program} 1`, [first]), await write(`${program} 2`, [first])];
    const later = await write(`${program} 3`, [base]);
    await failing.fail(program);
    expect(await describeTo(base, later)).toEqual(byHeads ? entry(true, [base, later]) : entry(false, []));
    await failing.recover();
    // One that was asked for the other commit may be about to fail yet, and is shared by who asks meanwhile.
    await expect.poll(() => describeTo(base, later)).toEqual(entry(false, [later]));
    expect(await describeTo(base, head)).toEqual(entry(true, [base, head]));
  });

  it('to a head that is damaged is a head in place of it', async () => {
    const lost = await write('lost head', [first]);
    const after = await write('another head', [first]);
    await rm(loosePath(join(git.folderOf(1), 'objects'), lost));
    expect(await describeTo(lost, after)).toEqual(entry(true, [lost, after]));
  });
});

describe('refs', () => {
  it('that git could not move are not said to be deleted', async () => {
    await failing.fail('update-ref', ...READING);
    await expect(moveRefs(git, 1, [{ ref: topic, old: second }])).rejects.toThrow('git');
    await expect(moveRefs(git, 1, [{ ref: topic }])).rejects.toThrow('git');
    await failing.recover();
    expect(await readRef(git, 1, topic)).toBe(second);
    await failing.fail('update-ref');
    await expect(moveRefs(git, 1, [{ ref: topic, old: second }])).rejects.toThrow('git ended');
    expect(await readRef(git, 1, topic)).toBe(second);
  });

  it('that were to go and are gone all the same are done', async () => {
    await moveRefs(git, 1, [{ ref: branchRef('gone'), new: first, old: NO_COMMIT }]);
    await command(git.folderOf(1), 'update-ref', '-d', branchRef('gone'));
    await failing.fail('update-ref');
    expect(await moveRefs(git, 1, [{ ref: branchRef('gone'), old: first }])).toBe('done');
  });

  it('of a repository whose folder is not there are not missing', async () => {
    for (const ask of [
      () => listBranches(git, 9),
      () => readRefs(git, 9, [main]),
      () => readRefIds(git, 9, [main]),
      () => followRefs(git, 9, [main]),
      () => readHead(git, 9),
    ])
      await expect(ask()).rejects.toThrow('not a git repository');
  });
});

describe('objects that are damaged', () => {
  it('are missing, and keep nobody from the others', async () => {
    const lost = await write('lost', [first]);
    const late = await write('late', [lost]);
    await moveRefs(git, 1, [{ ref: branchRef('late'), new: late, old: NO_COMMIT }]);
    await rm(loosePath(join(git.folderOf(1), 'objects'), lost));
    expect(await describeObject(git, 1, `${lost}^{commit}`)).toBe(undefined);
    expect((await readSmallObjects(git, 1, [lost, late])).map((one) => one?.id)).toEqual([undefined, late]);
    expect(await listNewCommits(git, 1, late, [first])).toEqual([]);
    expect(await isReached(git, 1, await write('nowhere', [lost]))).toBe(false);
    await expect(findMergeBase(git, 1, lost, first)).rejects.toMatchObject({ isForDamage: true });
    await moveRefs(git, 1, [{ ref: branchRef('late'), old: late }]);
  });
});

it('a ref for which no folder can be made is none that moved', async () => {
  const change = { ref: branchRef(`${'x'.repeat(300)}/y`), new: first, old: NO_COMMIT };
  await expect(moveRefs(git, 1, [change])).rejects.toThrow();
  expect(await listBranches(git, 1)).toHaveLength(3);
});
