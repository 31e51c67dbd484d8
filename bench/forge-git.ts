import { execFile, fork, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { accessTokens } from '@croft/access-token';
import { forgeSettings, startForge } from '@croft/forge';
import { silentLog } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';
import { startEmbeddedPostgres } from '@croft/sql/embedded';
import { type Figure, median } from './figure.ts';

const run = promisify(execFile);
const SECRET = 'a-secret-of-at-least-thirty-two-characters';
const MB = 1024 * 1024;
const CLONED_BYTES = 128 * MB;
const CLONE_ROUNDS = 7;
const PUSH_ROUNDS = 9;
const CLIENTS = 8;
const LARGE_BYTES = 1024 * MB;
const MAX_GROWTH_MB = 30;
const ENVIRONMENT = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
};
/** What the forge asks of git when it takes a push; the peer gets the same. */
const CAREFUL = [
  ['core.fsync', 'all'],
  ['receive.fsckObjects', 'true'],
  ['receive.autogc', 'false'],
  ['gc.auto', '0'],
] as const;

/** What git reports of a push. */
const PUSHED = 'unpack ok';

/** A forge with somebody in it, and what a bench needs of both. */
interface Place {
  folder: string;
  /** Makes a repository and gives its folder. */
  make(name: string): Promise<string>;
  /** What a client over HTTP wants to know: address, file of its request, what must come, token. */
  remote(name: string, request: string, expected: number | string): string[];
}

/**
 * git through the forge against git's own programs run directly, in turns in the same run: the pack of a clone from
 * `upload-pack` to a reader that drops it, and the same pack of 10,000 objects pushed to `receive-pack` in a repository
 * on the same disk that is as careful. Then the memory of the forge while eight clients clone a repository of a gigabyte.
 */
export async function* figures(): AsyncGenerator<Figure> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-bench-git-'));
  const postgres = await startEmbeddedPostgres({ folder, log: silentLog, tuning: 'test' });
  const service = await startForge({
    settings: readSettings(forgeSettings, { FORGE_HTTP_PORT: '0' }),
    databaseUrl: postgres.url('croft'),
    dataFolder: folder,
    log: silentLog,
    version: '0.0.0',
    atRestKey: new Secret(SECRET),
    tokens: { secret: new Secret(SECRET) },
    authUrl: undefined,
  });
  try {
    const place = placeAt(folder, service.address);
    yield await clone(place);
    yield await push(place);
    yield await memory(place);
  } finally {
    await service.close(1000);
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function clone(place: Place): Promise<Figure> {
  const bare = await place.make('clone');
  const request = await wants(place, await fill(bare, CLONED_BYTES, MB));
  const ours: number[] = [];
  const theirs: number[] = [];
  // The first of each finds nothing in the caches of the disk.
  for (let round = 0; round <= CLONE_ROUNDS; round++) {
    theirs.push(await client('direct', 'upload-pack', bare, request, String(CLONED_BYTES)));
    ours.push(await client('http', 'upload-pack', ...place.remote('clone', request, CLONED_BYTES)));
  }
  const rate = (times: readonly number[]) => (CLONED_BYTES / MB / median(times.slice(1))) * 1000;
  return {
    bench: 'forge-git',
    figure: `pack of a clone of ${CLONED_BYTES / MB} MB over HTTP, git upload-pack run directly`,
    ratio: rate(ours) / rate(theirs),
    ours: rate(ours),
    theirs: rate(theirs),
    unit: 'MB/s',
    limit: '≥ 0.95',
  };
}

async function push(place: Place): Promise<Figure> {
  const source = join(place.folder, 'source.git');
  await run('git', ['init', '-q', '--bare', '-b', 'main', source], { env: ENVIRONMENT });
  const tip = await fill(source, 9_900 * 1024, 1024);
  const request = join(place.folder, 'push');
  const command = `${'0'.repeat(40)} ${tip} refs/heads/main\0 report-status side-band-64k`;
  await writeFile(request, `${packet(command)}0000`);
  const pack = `echo ${tip} | git --git-dir '${source}' pack-objects --quiet --revs --stdout >>'${request}'`;
  await run('sh', ['-c', pack], { env: ENVIRONMENT });
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round <= PUSH_ROUNDS; round++) {
    const peer = join(place.folder, `peer-${round}.git`);
    await run('git', ['init', '-q', '--bare', '-b', 'main', peer], { env: ENVIRONMENT });
    for (const [name, value] of CAREFUL)
      await run('git', ['--git-dir', peer, 'config', name, value], { env: ENVIRONMENT });
    await place.make(`push-${round}`);
    theirs.push(await client('direct', 'receive-pack', peer, request, PUSHED));
    ours.push(await client('http', 'receive-pack', ...place.remote(`push-${round}`, request, PUSHED)));
  }
  return {
    bench: 'forge-git',
    figure: 'push of 10,000 objects over HTTP, git receive-pack run directly and as careful',
    ratio: median(theirs.slice(1)) / median(ours.slice(1)),
    ours: median(ours.slice(1)),
    theirs: median(theirs.slice(1)),
    unit: 'ms',
    limit: '≥ 0.9',
  };
}

/** The forge is this process; its clients and its git are others. */
async function memory(place: Place): Promise<Figure> {
  const bare = await place.make('large');
  const { bavail, bsize } = await statfs(place.folder);
  if (bavail * bsize < 2 * LARGE_BYTES) throw new Error(`${place.folder} has no room for two gigabytes`);
  const request = await wants(place, await fill(bare, LARGE_BYTES, 16 * MB));
  const clone = () => client('http', 'upload-pack', ...place.remote('large', request, LARGE_BYTES));
  // What one clone loads and allocates for good is there before it counts.
  await clone();
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 50);
  await Promise.all(Array.from({ length: CLIENTS }, clone));
  clearInterval(watch);
  const growth = (most - before) / MB;
  return {
    bench: 'forge-git',
    figure: `growth of memory while ${CLIENTS} clients clone a repository of 1 GB`,
    ratio: MAX_GROWTH_MB / Math.max(growth, 0.1),
    ours: growth,
    theirs: MAX_GROWTH_MB,
    unit: 'MB',
    limit: '≥ 1',
  };
}

function placeAt(folder: string, address: string): Place {
  const token = accessTokens(SECRET).sign({
    sub: randomUUID(),
    role: 'authenticated',
    exp: Math.floor(Date.now() / 1000) + 3600,
    user_metadata: { user_name: 'ada' },
  });
  return {
    folder,
    remote: (name, request, expected) => [`${address}/ada/${name}.git`, request, String(expected), token],
    async make(name) {
      const answer = await fetch(`${address}/api/v1/user/repos`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name }),
      });
      if (answer.status !== 201) throw new Error(`${name}: ${await answer.text()}`);
      const { id } = (await answer.json()) as { id: number };
      return join(folder, 'repositories', `${id}.git`);
    },
  };
}

/** Puts a commit of random files of one size into a repository, packed, and gives its id. */
async function fill(bare: string, bytes: number, fileBytes: number): Promise<string> {
  const args = ['-c', 'core.compression=0', '-c', 'fastimport.unpackLimit=0', '--git-dir', bare];
  const load = spawn('git', [...args, 'fast-import', '--quiet', '--depth=0'], {
    env: ENVIRONMENT,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const write = async (data: string | Buffer) => {
    if (!load.stdin.write(data)) await once(load.stdin, 'drain');
  };
  await write('commit refs/heads/main\ncommitter Bench <bench@example.test> 1700000000 +0000\ndata 1\nx\n');
  for (let index = 0; index * fileBytes < bytes; index++) {
    await write(`M 100644 inline folder-${index % 97}/file-${index}\ndata ${fileBytes}\n`);
    await write(randomBytes(fileBytes));
    await write('\n');
  }
  load.stdin.end();
  const [code] = (await once(load, 'exit')) as [number];
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
  const { stdout } = await run('git', ['--git-dir', bare, 'rev-parse', 'main'], { env: ENVIRONMENT });
  return stdout.trim();
}

/** The request for a commit with all its history, without a word of progress, in a file. */
async function wants(place: Place, tip: string): Promise<string> {
  const file = join(place.folder, `wants-${tip}`);
  await writeFile(
    file,
    `${packet(`want ${tip} side-band-64k ofs-delta no-progress\n`)}0000${packet('done\n')}`,
  );
  return file;
}

const packet = (text: string) => (text.length + 4).toString(16).padStart(4, '0') + text;

/** Sends a request in a process of its own, which drops the answer, and gives the milliseconds that took. */
async function client(...args: string[]): Promise<number> {
  const child = fork(join(import.meta.dirname, 'forge', 'git-client.ts'), args, {
    execArgv: [],
    env: ENVIRONMENT,
  });
  let took = Number.NaN;
  child.on('message', (message) => {
    took = message as number;
  });
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error(`a client ended with ${code}`);
  return took;
}
