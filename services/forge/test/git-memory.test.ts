import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { git, temporaryFolder, testDatabase } from '@croft/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MIGRATIONS, type Person, personWith, tokenFor } from './forge.ts';
import { type ForgeProcess, startForgeProcess } from './killable-forge.ts';

/* A repository of a gigabyte goes in and comes out; the forge keeps nothing of it. */
const MB = 1024 * 1024;
const FILES = 16;
const FILE_BYTES = 64 * MB;
const READERS = 3;
const stack = new AsyncDisposableStack();
const token = tokenFor('ada');
const ada: Person = personWith('ada', token, () => service.address);
let service: ForgeProcess;
let source: string;
let tip: string;

beforeAll(async () => {
  const { url } = stack.use(await testDatabase({ schema: 'forge', migrations: MIGRATIONS }));
  const { path: folder } = stack.use(await temporaryFolder());
  service = stack.use(await startForgeProcess(url, join(folder, 'data')));
  source = join(folder, 'source.git');
  await git(folder, 'init', '-q', '--bare', '-b', 'main', source);
  await fill();
  tip = await git(source, 'rev-parse', 'main');
  await ada.call('POST', '/user/repos', { name: 'large' });
}, 300_000);
afterAll(() => stack.disposeAsync());

/** Files of noise, which nothing makes smaller. */
async function fill(): Promise<void> {
  const options = ['-c', 'core.compression=0', '-c', 'core.bigFileThreshold=1m', '--git-dir', source];
  const load = spawn('git', [...options, 'fast-import', '--quiet'], { stdio: ['pipe', 'ignore', 'inherit'] });
  const write = async (data: string | Buffer) => {
    if (!load.stdin.write(data)) await once(load.stdin, 'drain');
  };
  await write('commit refs/heads/main\ncommitter A <a@example.test> 1700000000 +0000\ndata 1\nx\n');
  for (let n = 0; n < FILES; n++) {
    await write(`M 100644 inline file-${n}\ndata ${FILE_BYTES}\n`);
    for (let written = 0; written < FILE_BYTES; written += 8 * MB) await write(randomBytes(8 * MB));
    await write('\n');
  }
  load.stdin.end();
  await once(load, 'exit');
}

/** By how much the memory of the forge grows, at most, while something happens; in megabytes. */
async function growth(work: () => Promise<unknown>): Promise<number> {
  const resident = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.child.pid}/status`, 'utf8'))?.[1]) / 1024;
  const before = resident();
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, resident());
  }, 20);
  try {
    await work();
  } finally {
    clearInterval(watch);
  }
  return most - before;
}

const packet = (text: string) => (text.length + 4).toString(16).padStart(4, '0') + text;

/** Asks for everything, as a clone does, and drops it; how much came until it was all, or enough. */
async function read(enough = Number.POSITIVE_INFINITY): Promise<number> {
  const call = request(`${service.address}/ada/large.git/git-upload-pack`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-git-upload-pack-request' },
  });
  call.end(`${packet(`want ${tip} side-band-64k ofs-delta no-progress\n`)}0000${packet('done\n')}`);
  const [answer] = (await once(call, 'response')) as [Readable];
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += (chunk as Buffer).length;
    if (bytes >= enough) break;
  }
  return bytes;
}

const hasProc = process.platform === 'linux';
it.skipIf(!hasProc)(
  'a gigabyte is pushed without being kept in memory',
  async () => {
    const push = [
      '-c',
      'pack.window=0',
      '-c',
      'core.compression=0',
      'push',
      '-q',
      ada.remote('ada/large'),
      'main',
    ];
    expect(await growth(() => git(source, ...push))).toBeLessThan(100);
    expect((await ada.call('GET', '/repos/ada/large/branches/main')).status).toBe(200);
  },
  180_000,
);

it.skipIf(!hasProc)(
  'several clients read it at once, and the memory stays what it is',
  async () => {
    // What the first one brings into memory stays there.
    await read(2 * FILE_BYTES);
    const amounts: number[] = [];
    const more = await growth(async () => {
      amounts.push(...(await Promise.all(Array.from({ length: READERS }, () => read()))));
    });
    for (const bytes of amounts) expect(bytes).toBeGreaterThan(FILES * FILE_BYTES);
    expect(more).toBeLessThan(30);
  },
  180_000,
);
