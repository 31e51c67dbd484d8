import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLog } from '@croft/runtime';
import { git as command, temporaryFolder } from '@croft/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Broker } from '../src/outside/git/broker.ts';
import type { OutputTarget } from '../src/outside/git/direct-output.ts';
import { Git } from '../src/outside/git/git.ts';
import { findAttributes } from '../src/outside/git/merging/attributes.ts';
import { tryMerge, writeMerge } from '../src/outside/git/merging/merge.ts';
import {
  blobObject,
  commitObject,
  FOLDER,
  rawTreeObject,
  treeObject,
  writeObject,
} from '../src/outside/git/objects.ts';
import { branchRef, moveRefs, NO_COMMIT, readRef, readRefs } from '../src/outside/git/refs.ts';
import { makeRepository } from '../src/outside/git/repository.ts';

const SEARCH_PATH = '/usr/local/bin:/usr/bin:/bin';
const stack = new AsyncDisposableStack();
let git: Git;
let first: string;
beforeAll(async () => {
  const folder = stack.use(await temporaryFolder()).path;
  const options = { folder, command: 'git', searchPath: SEARCH_PATH, warmProcesses: 2, log: silentLog };
  git = stack.adopt(await Git.open(options), (one) => one.close());
  await makeRepository(git, 1, 'main');
  first = await write('one', []);
  await moveRefs(git, 1, [{ ref: branchRef('main'), new: first, old: NO_COMMIT }]);
});
afterAll(() => stack.disposeAsync());

const ada = { name: 'Ada', email: 'ada@example.test', at: new Date('2026-01-02T03:04:05Z') };

/** Whether a process works on a repository of this test. */
function isOurs(id: string): boolean {
  try {
    return (
      /^\d+$/.test(id) && readFileSync(`/proc/${id}/cmdline`, 'utf8').includes(`--git-dir=${git.folder}`)
    );
  } catch {
    return false;
  }
}

/** A stream as something to pass an output on to. */
const into = (stream: Writable): OutputTarget => ({
  take({ memory, start, end }, done) {
    stream.write(memory.subarray(start, end), done);
    return false;
  },
  once: (event, listener) => void stream.once(event, listener),
});

/** A commit of one file, on no branch. */
async function write(content: string, parents: string[], file = 'file'): Promise<string> {
  const blob = blobObject(content);
  const tree = treeObject([file, blob.id]);
  const commit = commitObject({ tree: tree.id, parents, author: ada, committer: ada, message: content });
  for (const object of [blob, tree, commit]) await writeObject(git, 1, object);
  return commit.id;
}

describe('the broker', () => {
  it('starts programs with a minimal environment and none of ours', async () => {
    const broker = await Broker.open(silentLog, SEARCH_PATH);
    const program = await broker.start({
      command: 'env',
      args: [],
      input: false,
      environment: { EXTRA: '1' },
    });
    const names = (await text(program.stdout))
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0]);
    expect(names.sort()).toEqual([
      'EXTRA',
      'GIT_ATTR_NOSYSTEM',
      'GIT_CONFIG_GLOBAL',
      'GIT_CONFIG_NOSYSTEM',
      'GIT_TERMINAL_PROMPT',
      'HOME',
      'LC_ALL',
      'PATH',
    ]);
    await broker.close();
    expect(existsSync(broker.folder)).toBe(false);
  });

  it('brings every byte, both ways, and the end', async () => {
    const broker = stack.adopt(await Broker.open(silentLog, SEARCH_PATH), (one) => one.close());
    const bytes = Buffer.alloc(8_000_000, 'abcdefg');
    const program = await broker.start({ command: 'cat', args: [], input: true });
    program.stdin?.end(bytes);
    expect((await buffer(program.stdout)).equals(bytes)).toBe(true);
    expect(await program.exited).toEqual({ code: 0, signal: null, stderr: '' });
  });

  it('passes on every byte of an output that nobody looks at, however slow the reader is', async () => {
    const broker = stack.adopt(await Broker.open(silentLog, SEARCH_PATH), (one) => one.close());
    const bytes = Buffer.from(Array.from({ length: 700_000 }, (_, n) => `line ${n}\n`).join(''));
    const program = await broker.startDirect({ command: 'cat', args: [], input: true });
    program.stdin?.end(bytes);
    const arrived: Buffer[] = [];
    let isWriting = false;
    const slow = new Writable({
      write(chunk: Buffer, _encoding, done) {
        expect(isWriting).toBe(false);
        isWriting = true;
        // What is passed on belongs to the reader until it has called back.
        setTimeout(() => {
          arrived.push(Buffer.from(chunk));
          isWriting = false;
          done();
        }, arrived.length % 3);
      },
    });
    await program.stdout.begun;
    await program.stdout.copyTo(into(slow));
    slow.end();
    await finished(slow);
    expect(Buffer.concat(arrived).equals(bytes)).toBe(true);
    expect(await program.exited).toEqual({ code: 0, signal: null, stderr: '' });
  });

  it('lets go of a program whose reader goes away', async () => {
    const broker = stack.adopt(await Broker.open(silentLog, SEARCH_PATH), (one) => one.close());
    const program = await broker.startDirect({ command: 'yes', args: [], input: false });
    const gone = new Writable({ write: (_chunk, _encoding, done) => done() });
    const copied = program.stdout.copyTo(into(gone));
    await program.stdout.begun;
    gone.destroy();
    await copied;
    expect((await program.exited).code).not.toBe(0);
  });

  it('an output without a word begins with its end', async () => {
    const broker = stack.adopt(await Broker.open(silentLog, SEARCH_PATH), (one) => one.close());
    const program = await broker.startDirect({ command: 'true', args: [], input: false });
    await program.stdout.begun;
    const nothing = new PassThrough();
    await program.stdout.copyTo(into(nothing));
    nothing.end();
    expect(await text(nothing)).toBe('');
  });

  it('brings the last words of a program that does not read its input', async () => {
    const broker = stack.adopt(await Broker.open(silentLog, SEARCH_PATH), (one) => one.close());
    const args = ['-c', 'echo last words; echo why >&2; exit 3'];
    const program = await broker.start({ command: 'sh', args, input: true });
    program.stdin?.write(Buffer.alloc(1_000_000));
    await sleep(200);
    expect(await text(program.stdout)).toBe('last words\n');
    expect(await program.exited).toEqual({ code: 3, signal: null, stderr: 'why\n' });
  });

  it('kills a program with everything it started', async () => {
    const broker = stack.adopt(await Broker.open(silentLog, SEARCH_PATH), (one) => one.close());
    const program = await broker.start({
      command: 'sh',
      args: ['-c', 'sleep 600 & sleep 600'],
      input: false,
    });
    program.kill();
    // The output ends only when nobody holds it any more.
    expect(await text(program.stdout)).toBe('');
    expect((await program.exited).code).toBe(null);
  });

  it('reports a program that does not exist', async () => {
    const broker = stack.adopt(await Broker.open(silentLog, SEARCH_PATH), (one) => one.close());
    const program = await broker.start({ command: 'no-such-program', args: [], input: false });
    expect(await program.exited).toMatchObject({ code: 127, stderr: expect.stringContaining('ENOENT') });
  });

  it('is replaced when it dies; what it had started has failed', async () => {
    const broker = stack.adopt(await Broker.open(silentLog, SEARCH_PATH), (one) => one.close());
    const orphan = await broker.start({ command: 'cat', args: [], input: true });
    const shell = await broker.start({ command: 'sh', args: ['-c', 'kill -9 $PPID'], input: false });
    expect((await shell.exited).code).toBe(null);
    expect(await orphan.exited).toEqual({ code: null, signal: null, stderr: 'the git broker ended' });
    orphan.stdin?.destroy();
    const next = await broker.start({ command: 'echo', args: ['again'], input: false });
    expect(await text(next.stdout)).toBe('again\n');
  });
});

it('trees that name one another stand for no more attributes than a merge has memory for', async () => {
  const blob = blobObject('* merge=union\n');
  await writeObject(git, 1, blob);
  let tree = rawTreeObject([['.gitattributes', { mode: '100644', id: blob.id }]]);
  // A hundred million folders.
  for (let level = 0; level < 8; level++) {
    await writeObject(git, 1, tree);
    const { id } = tree;
    const names = [...Array.from({ length: 10 }, (_, n) => `folder-${n}`), 'x'.repeat(300)];
    tree = rawTreeObject(names.map((name) => [name, { mode: FOLDER, id }]));
  }
  await writeObject(git, 1, tree);
  const bomb = commitObject({ tree: tree.id, parents: [], author: ada, committer: ada, message: 'bomb' });
  await writeObject(git, 1, bomb);
  const found = await findAttributes(git, 1, bomb.id);
  expect(found).toHaveLength(128);
  for (const { path } of found) expect(path).not.toContain('xxx');
});

describe('refs', () => {
  it('are read exactly: neither descriptions nor expressions nor other namespaces answer for a missing branch', async () => {
    const names = ['main', 'none', `x-g${first.slice(0, 7)}`, `x-g${first}`];
    expect(await readRefs(git, 1, names.map(branchRef))).toEqual([first, undefined, undefined, undefined]);
    await moveRefs(git, 1, [{ ref: branchRef(`y-g${first.slice(0, 7)}`), new: first, old: NO_COMMIT }]);
    expect(await readRef(git, 1, branchRef(`y-g${first.slice(0, 7)}`))).toBe(first);
  });

  it('move by compare-and-swap, together or not at all', async () => {
    const second = await write('two', [first]);
    const both = [
      { ref: branchRef('a'), new: second, old: NO_COMMIT },
      { ref: branchRef('main'), new: second, old: second },
    ];
    expect(await moveRefs(git, 1, both)).toBe('moved');
    expect(await readRefs(git, 1, [branchRef('a'), branchRef('main')])).toEqual([undefined, first]);
    expect(await moveRefs(git, 1, [{ ref: branchRef('a'), new: second, old: NO_COMMIT }])).toBe('done');
    expect(await moveRefs(git, 1, [{ ref: branchRef('a'), new: first, old: NO_COMMIT }])).toBe('moved');
    expect(await moveRefs(git, 1, [{ ref: branchRef('a'), old: first }])).toBe('moved');
    expect(await moveRefs(git, 1, [{ ref: branchRef('a'), old: second }])).toBe('done');
    expect(await readRef(git, 1, branchRef('a'))).toBe(undefined);
  });

  it('move though the process ends for what somebody else asked before', async () => {
    const [a, b] = [branchRef('together-a'), branchRef('together-b')];
    const below = branchRef('main/below');
    const moves = [
      [{ ref: a, new: first, old: first }],
      [{ ref: b, new: first, old: NO_COMMIT }],
      [{ ref: a }],
      [{ ref: below, new: first, old: NO_COMMIT }],
    ];
    const moved = await Promise.all(moves.map((changes) => moveRefs(git, 1, changes)));
    expect(moved).toEqual(['moved', 'done', 'done', 'moved']);
    expect(await readRefs(git, 1, [a, b, below])).toEqual([undefined, first, undefined]);
    expect(await moveRefs(git, 1, [{ ref: b, old: first }])).toBe('done');
  });

  /** As many questions as one process answers. */
  async function wearOut(): Promise<void> {
    const many = Array.from({ length: 10_000 }, () => branchRef('main'));
    for (let asked = 0; asked < 100_000; asked += many.length)
      expect(new Set(await readRefs(git, 1, many))).toEqual(new Set([first]));
  }

  it('are read on while the process that has answered many questions is replaced', async () => {
    const main = branchRef('main');
    const before = await git.converse(1, 'objects');
    await wearOut();
    expect(await git.converse(1, 'objects')).toBe(before);
    let isEnded = false;
    void before.ended.then(() => {
      isEnded = true;
    });
    while (!isEnded) expect(await readRef(git, 1, main)).toBe(first);
    const after = await git.converse(1, 'objects');
    expect(after).not.toBe(before);
    expect(after.asked).toBeLessThan(100_000);
  });

  it('of a repository that goes away leave no process that was to replace another', async () => {
    await wearOut();
    const last = await git.converse(1, 'objects');
    await git.forget(1);
    await last.ended;
    const others = () =>
      readdirSync('/proc').filter(
        (id) => isOurs(id) && readFileSync(`/proc/${id}/cmdline`, 'utf8').includes('cat-file'),
      );
    await expect.poll(others).toEqual([]);
    expect(await readRef(git, 1, branchRef('main'))).toBe(first);
  });

  it('are read and moved on when the processes at hand have died', async () => {
    await readRef(git, 1, branchRef('main'));
    const helpers = readdirSync('/proc').filter((id) => isOurs(id));
    expect(helpers.length).toBeGreaterThan(0);
    for (const id of helpers) process.kill(Number(id), 'SIGKILL');
    expect(await readRef(git, 1, branchRef('main'))).toBe(first);
  });
});

describe('merges', () => {
  it('are tried without a trace, and written with everything they need', async () => {
    const left = await write('left', [first], 'left');
    const right = await write('right', [first], 'right');
    const clash = await write('other', [first], 'left');
    const before = await command(git.folderOf(1), 'count-objects', '-v');
    expect((await tryMerge(git, 1, left, clash)).conflicts).toEqual(['left']);
    expect((await tryMerge(git, 1, left, right)).conflicts).toEqual([]);
    expect(await command(git.folderOf(1), 'count-objects', '-v')).toBe(before);
    const toCommit = (tree: string) =>
      commitObject({ tree, parents: [left, right], author: ada, committer: ada, message: 'merged' });
    const { made } = await writeMerge(git, 1, { ours: left, theirs: right }, toCommit);
    expect(await command(git.folderOf(1), 'ls-tree', '--name-only', `${made?.id}`)).toBe('left\nright');
    expect(await command(git.folderOf(1), 'fsck', '--strict', '--no-dangling')).toBe('');
    const written = await command(git.folderOf(1), 'count-objects', '-v');
    expect(await writeMerge(git, 1, { ours: left, theirs: clash }, toCommit)).toEqual({
      conflicts: ['left'],
    });
    expect(await command(git.folderOf(1), 'count-objects', '-v')).toBe(written);
  });

  it('leave no folder behind when their process ends', async () => {
    await git.forget(1);
    const objects = join(git.folderOf(1), 'objects');
    await expect.poll(() => readdirSync(objects).filter((name) => name.startsWith('tmp_'))).toEqual([]);
  });
});

it('commits are what git itself would write', async () => {
  const message = 'Title\n\nBody with ünïcode\n';
  const author = { ...ada, name: 'A <b> \n c' };
  const commit = commitObject({
    tree: treeObject(['f', blobObject('x').id]).id,
    parents: [first],
    author,
    committer: ada,
    message,
  });
  for (const object of [blobObject('x'), treeObject(['f', blobObject('x').id]), commit])
    await writeObject(git, 1, object);
  expect(await command(git.folderOf(1), 'log', '-1', '--format=%an|%ae|%ct|%P|%B', commit.id)).toBe(
    `A b  c|ada@example.test|${ada.at.getTime() / 1000}|${first}|Title\n\nBody with ünïcode`,
  );
});

describe('without a merge-tree process that can be talked with', () => {
  it('merges to the same tree and names the same conflicts', async () => {
    const bare = stack.use(await temporaryFolder()).path;
    // Git alone is found there, no stdbuf; git before 2.39 takes the same way.
    symlinkSync((await command('/', '--exec-path')).replace(/$/, '/git'), join(bare, 'git'));
    const options = {
      folder: git.folder,
      command: 'git',
      searchPath: bare,
      warmProcesses: 2,
      log: silentLog,
    };
    const plain = stack.adopt(await Git.open(options), (one) => one.close());
    expect([git.hasUnbufferedMerges, plain.hasUnbufferedMerges]).toEqual([true, false]);

    const base = await write('base', []);
    const ours = await write('ours', [base]);
    const other = await write('base', [base]);
    const theirs = await write('theirs', [base]);
    for (const [one, two] of [
      [ours, other],
      [ours, theirs],
    ] as const) {
      expect(await tryMerge(plain, 1, one, two)).toEqual(await tryMerge(git, 1, one, two));
    }
    expect((await tryMerge(plain, 1, ours, theirs)).conflicts).toEqual(['file']);

    const toCommit = (tree: string) =>
      commitObject({ tree, parents: [ours, other], author: ada, committer: ada, message: 'merged' });
    const merged = await writeMerge(plain, 1, { ours, theirs: other }, toCommit);
    const folder = plain.folderOf(1);
    expect(await command(folder, 'cat-file', '-t', `${merged.made?.id}`)).toBe('commit');
    await expect(tryMerge(plain, 1, ours, '0'.repeat(40))).rejects.toThrow('merge-base of');
  });
});
