import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { git, gitEnvironment } from '@croft/testing';

const COMMITS = 500;
const FILES_A_COMMIT = 4;

/**
 * Makes a repository that has what real ones have: 500 commits, 2,000 files, renames, a binary, a 10 MB file, an
 * executable, a symbolic link, and a branch `feature` that touches all of them. The same every time.
 */
export async function sampleRepository(folder: string): Promise<void> {
  await git(folder, 'init', '-q', '-b', 'main', '.');
  const importer = spawn('git', ['fast-import', '--quiet'], {
    cwd: folder,
    env: gitEnvironment,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  for (const piece of stream()) {
    if (!importer.stdin.write(piece)) await once(importer.stdin, 'drain');
  }
  importer.stdin.end();
  const [code] = (await once(importer, 'exit')) as [number];
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
  await git(folder, 'reset', '-q', '--hard');
}

function* stream(): Generator<string | Buffer> {
  for (let commit = 0; commit < COMMITS; commit++) {
    yield header('main', commit, `Add part ${commit}`);
    for (let file = 0; file < FILES_A_COMMIT; file++) {
      yield* content(`src/part-${commit % 50}/file-${commit}-${file}.txt`, Buffer.from(lines(commit, file)));
    }
    if (commit === 10) yield* content('assets/logo.bin', noise(4_096, 1));
    if (commit === 20) yield* content('assets/large.bin', noise(10 * 1024 * 1024, 2));
    if (commit === 30) yield* content('run.sh', Buffer.from('#!/bin/sh\necho run\n'), '100755');
    if (commit === 40) yield* content('current', Buffer.from('src/part-0'), '120000');
    if (commit > 100 && commit % 10 === 0)
      yield `R src/part-${(commit - 100) % 50}/file-${commit - 100}-0.txt moved/file-${commit}.txt\n`;
    yield '\n';
  }
  yield header('feature', COMMITS, 'Change a text and rename it', 'refs/heads/main');
  yield 'D src/part-1/file-1-0.txt\n';
  yield* content('src/part-1/renamed-1-0.txt', Buffer.from(`${lines(1, 0)}one more line\n`));
  yield* content('src/part-2/file-2-1.txt', Buffer.from(lines(2, 1).replace('line 5 ', 'line five ')));
  yield header('feature', COMMITS + 1, 'Change the binary, the mode and the link');
  yield* content('assets/logo.bin', noise(4_096, 3));
  yield* content('run.sh', Buffer.from('#!/bin/sh\necho run faster\n'), '100644');
  yield* content('current', Buffer.from('src/part-1'), '120000');
  yield* content('naïve file – with “odd” name.txt', Buffer.from('ünïcode\r\nand\ttabs\n'));
  yield header('main', COMMITS + 2, 'Meanwhile on main');
  yield* content('src/part-3/file-3-0.txt', Buffer.from(`${lines(3, 0)}meanwhile\n`));
}

function header(branch: string, number: number, message: string, from?: string): string {
  const who = `Ada <ada@example.test> ${1_700_000_000 + number * 60} +0000`;
  return `commit refs/heads/${branch}\nauthor ${who}\ncommitter ${who}\ndata ${Buffer.byteLength(message)}\n${message}\n${from ? `from ${from}\n` : ''}`;
}

function* content(path: string, bytes: Buffer, mode = '100644'): Generator<string | Buffer> {
  yield `M ${mode} inline ${path}\ndata ${bytes.length}\n`;
  yield bytes;
  yield '\n';
}

function lines(commit: number, file: number): string {
  return Array.from({ length: 12 }, (_, line) => `line ${line} of file ${file} in commit ${commit}\n`).join(
    '',
  );
}

/** Bytes that do not compress, from a fixed seed (xorshift32). */
function noise(length: number, seed: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = seed * 2_654_435_761;
  for (let index = 0; index < length; index += 4) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes.writeInt32LE(state | 0, index);
  }
  return bytes;
}
