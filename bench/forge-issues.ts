import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { forgeSettings, migrateForge } from '@croft/forge';
import { silentLog } from '@croft/runtime';
import { readSettings } from '@croft/settings';
import { openDatabase } from '@croft/sql';
import { startEmbeddedPostgres } from '@croft/sql/embedded';
import { type Client, client } from './auth/service.ts';
import type { Figure } from './figure.ts';
import { fillForge, SIZE } from './forge/data.ts';
import {
  KEYWORDS,
  LISTS,
  PHRASES,
  PLAIN_LISTS,
  type Requests,
  readers,
  SEARCHES,
} from './forge/issue-requests.ts';
import { startPlainList } from './forge/plain-list.ts';
import { startForgeProcess, tokenOf } from './forge/service.ts';

const AT_ONCE = 16;

/**
 * Lists and searches of issues over HTTP, sixteen clients that ask again at once when they were answered: the slowest of
 * a hundred, and the middle; and what the same clients wait for the least that can answer with fifty rows, on the same
 * machine. `CROFT_BENCH_ISSUES` names a folder where what was filled in is kept for the next time.
 */
export async function* figures(): AsyncGenerator<Figure> {
  const kept = process.env['CROFT_BENCH_ISSUES'];
  const folder = kept ?? (await mkdtemp(join(tmpdir(), 'croft-bench-')));
  const postgres = await startEmbeddedPostgres({ folder, log: silentLog, tuning: 'test' });
  try {
    const databaseUrl = postgres.url('croft');
    await prepare(databaseUrl, folder);
    const plain = await plainTimes(databaseUrl);
    await using forge = await startForgeProcess({ databaseUrl, dataFolder: folder });
    const clients = await connect(forge.address, databaseUrl);
    yield* measure(clients, plain, 'a list of a repository', LISTS, { limitMs: 15, count: 3_000 });
    yield* measure(clients, plain, 'a search without a keyword', SEARCHES, { limitMs: 15, count: 1_500 });
    yield* measure(clients, plain, 'a search for a keyword', KEYWORDS, { limitMs: 40, count: 600 });
    yield* measure(clients, plain, 'a search for a phrase', PHRASES, { limitMs: 40, count: 150 });
    await Promise.all(clients.map(({ by }) => by.end()));
  } finally {
    await postgres.stop();
    if (kept === undefined) await rm(folder, { recursive: true, force: true });
  }
}

async function plainTimes(databaseUrl: string): Promise<number[]> {
  await using server = await startPlainList(databaseUrl);
  const clients = await Promise.all(
    Array.from({ length: AT_ONCE }, async () => ({ by: await client(server.address), token: '' })),
  );
  await load(clients, PLAIN_LISTS, 1_000);
  const times = await load(clients, PLAIN_LISTS, 3_000);
  await Promise.all(clients.map(({ by }) => by.end()));
  return times.sort((a, b) => a - b);
}

async function prepare(databaseUrl: string, dataFolder: string): Promise<void> {
  const settings = readSettings(forgeSettings, {});
  const mark = join(dataFolder, 'filled');
  await migrateForge({ settings, databaseUrl, log: silentLog });
  if (existsSync(mark)) return;
  await fillForge(databaseUrl, settings.DB_SCHEMA);
  // There are rows of repositories and no folders: a forge starts with that only where somebody says that they belong together.
  await writeFile(join(dataFolder, 'forge-id'), `${randomUUID()}\n`);
  await writeFile(mark, '');
}

/** Connections of different people. */
interface Reader {
  by: Client;
  token: string;
}

async function connect(address: string, databaseUrl: string): Promise<Reader[]> {
  const database = openDatabase({ url: databaseUrl, schema: 'forge', log: silentLog, poolSize: 1 });
  const accounts = await database.autocommit().rows<Parameters<typeof tokenOf>[0]>`
    select auth_user_id, email, full_name from :schema.users where id = any(${readers(AT_ONCE)}) order by id`;
  await database.close();
  return await Promise.all(
    accounts.map(async (account) => ({ by: await client(address), token: tokenOf(account) })),
  );
}

async function* measure(
  clients: readonly Reader[],
  plain: readonly number[],
  what: string,
  requests: Requests,
  { limitMs, count }: { limitMs: number; count: number },
): AsyncGenerator<Figure> {
  // What a running server has warm: above all each connection its plans.
  await load(clients, requests, count / 2);
  const times = (await load(clients, requests, count)).sort((a, b) => a - b);
  for (const percent of [99, 50]) {
    const [ours, least] = [percentile(times, percent), percentile(plain, percent)];
    const figure = `${what} over HTTP, ${SIZE.issues.toLocaleString('en')} issues, ${AT_ONCE} at once, p${percent}`;
    yield {
      bench: 'forge-issues',
      figure,
      ratio: limitMs / ours,
      ours,
      theirs: limitMs,
      unit: 'ms',
      ...(percent === 99 ? { limit: '≥ 1' } : {}),
    };
    yield {
      bench: 'forge-issues',
      figure: `${figure}, against the least that answers with fifty rows`,
      ratio: least / ours,
      ours,
      theirs: least,
      unit: 'ms',
    };
  }
}

const percentile = (sorted: readonly number[], percent: number) =>
  sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? Number.NaN;

/** Sends so many requests, one of each kind after the other, and returns the milliseconds they took. */
async function load(clients: readonly Reader[], requests: Requests, count: number): Promise<number[]> {
  const kinds = Object.values(requests);
  const times: number[] = [];
  let next = 0;
  const work = async ({ by, token }: Reader): Promise<void> => {
    while (next < count) {
      const round = next++;
      const path = kinds[round % kinds.length]?.(Math.floor(round / kinds.length)) ?? '';
      const startedAt = performance.now();
      await by.send('GET', path, undefined, token);
      times.push(performance.now() - startedAt);
    }
  };
  await Promise.all(clients.map(work));
  return times;
}
