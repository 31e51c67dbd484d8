import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { forgeSettings, migrateForge } from '@croft/forge';
import { silentLog } from '@croft/runtime';
import { readSettings } from '@croft/settings';
import { startEmbeddedPostgres } from '@croft/sql/embedded';
import { type Client, client } from './auth/service.ts';
import type { Figure } from './figure.ts';
import { type Asked, fillPulls, moveBase, openPull, pushRepository } from './forge/pulls-data.ts';
import { startForgeProcess, tokenOf } from './forge/service.ts';

const MERGES = 150;
const FILES = 500;
const LISTED = 10_000;
const OPEN = 100;
const PAGE = 50;

/** Pull requests over HTTP with a database: merging them, listing them, and reading those whose base moved. */
export async function* figures(): AsyncGenerator<Figure> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-bench-'));
  const postgres = await startEmbeddedPostgres({ folder, log: silentLog });
  try {
    const databaseUrl = postgres.url('croft');
    await migrateForge({ settings: readSettings(forgeSettings, {}), databaseUrl, log: silentLog });
    await using forge = await startForgeProcess({ databaseUrl, dataFolder: folder });
    const account = { auth_user_id: randomUUID(), email: 'bench@example.test', full_name: 'Bench' };
    const at = { address: forge.address, token: tokenOf(account), folder };
    const by = await client(forge.address);
    const { login } = JSON.parse(await by.send('GET', '/api/v1/user', undefined, at.token)) as {
      login: string;
    };
    yield* merges(at, by, login);
    yield* lists(at, by, login, databaseUrl);
    yield* movedBase(at, by, login);
    await by.end();
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function* merges(at: Asked, by: Client, login: string): AsyncGenerator<Figure> {
  const repository = `${login}/merges`;
  await pushRepository(at, 'merges', { files: FILES, branches: MERGES });
  const numbers: number[] = [];
  for (let n = 0; n < MERGES; n++) numbers.push(await openPull(at, repository, `b${n}`));
  const merge = (number: number) =>
    timed(() =>
      by.send('POST', `/api/v1/repos/${repository}/pulls/${number}/merge`, { Do: 'merge' }, at.token),
    );
  const times: number[] = [];
  for (const [index, number] of numbers.entries()) {
    const took = await merge(number);
    // What a running server has warm.
    if (index >= 20) times.push(took);
  }
  const what = `a merge over HTTP with the database, ${FILES} files`;
  yield figure(`${what}, p50`, percentile(times, 50), 8);
  yield figure(`${what}, p99`, percentile(times, 99), 30);
}

async function* lists(at: Asked, by: Client, login: string, databaseUrl: string): AsyncGenerator<Figure> {
  const repository = `${login}/many`;
  const id = await pushRepository(at, 'many', { files: FILES, branches: PAGE });
  for (let n = 0; n < PAGE; n++) await openPull(at, repository, `b${n}`);
  await fillPulls(databaseUrl, id, LISTED - PAGE, PAGE);
  const queries = [
    'state=all',
    'state=open',
    'state=closed&sort=recentclose',
    'state=open&sort=oldest',
    'state=all&sort=recentupdate&page=7',
    'state=all&sort=mostcomment',
    'state=open&sort=leastupdate',
  ];
  const read = (n: number) =>
    timed(() => {
      const path = `/api/v1/repos/${repository}/pulls?limit=${PAGE}&${queries[n % queries.length]}`;
      return by.send('GET', path, undefined, at.token);
    });
  for (let n = 0; n < 300; n++) await read(n);
  const times: number[] = [];
  for (let n = 0; n < 700; n++) times.push(await read(n));
  const what = `a list of ${PAGE} of ${LISTED.toLocaleString('en')} pull requests with mergeability, over HTTP`;
  yield figure(`${what}, p99`, percentile(times, 99), 10);
  yield figure(`${what}, p50`, percentile(times, 50), 10, false);
}

async function* movedBase(at: Asked, by: Client, login: string): AsyncGenerator<Figure> {
  const repository = `${login}/moved`;
  await pushRepository(at, 'moved', { files: FILES, branches: OPEN });
  for (let n = 0; n < OPEN; n++) await openPull(at, repository, `b${n}`);
  const readAll = async () => {
    for (let page = 1; page <= OPEN / PAGE; page++)
      await by.send(
        'GET',
        `/api/v1/repos/${repository}/pulls?limit=${PAGE}&page=${page}`,
        undefined,
        at.token,
      );
  };
  await readAll();
  const times: number[] = [];
  for (let round = 0; round < 10; round++) {
    await moveBase(at, repository, `pushed-${round}.txt`);
    times.push(await timed(readAll));
  }
  yield figure(
    `${OPEN} open pull requests read over HTTP after their base moved, p50`,
    percentile(times, 50),
    300,
  );
}

function figure(what: string, ours: number, limitMs: number, promised = true): Figure {
  const limit = promised ? { limit: '≥ 1' } : {};
  return {
    bench: 'forge-pulls',
    figure: what,
    ratio: limitMs / ours,
    ours,
    theirs: limitMs,
    unit: 'ms',
    ...limit,
  };
}

function percentile(times: readonly number[], percent: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? Number.NaN;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
