import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '@croft/runtime';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@croft/sql/embedded';
import { type Client, client, type Service, startServiceOn } from './auth/service.ts';
import { fillSessions, resetSessions, runScript, tokenNumber, warmSessions } from './auth/sessions-data.ts';
import { type Figure, median } from './figure.ts';

/** Two refresh tokens each. */
const MANY = Number(process.env['CROFT_BENCH_SESSIONS_COUNT'] ?? 5_000_000);
/** As many as are refreshed here, each once. */
const FEW = 20_000;
const AT_ONCE = 16;
const ROUNDS = 9;
const PER_ROUND = 1_600;
/** How much longer the slowest of a hundred may take. */
const GROWTH = 1.15;

/**
 * Refreshes in tables with five million sessions against refreshes in tables with few, by sixteen clients that ask again
 * at once when they were answered; every request is for another session somewhere in the table. Both services run at the
 * same time and take turns, and all tables lie in the memory of the database. `CROFT_BENCH_SESSIONS` names a folder where what was filled in is kept for the next time, and
 * `CROFT_BENCH_SESSIONS_COUNT` how many sessions there are.
 */
export async function* figures(): AsyncGenerator<Figure> {
  const kept = process.env['CROFT_BENCH_SESSIONS'];
  const folder = kept ?? (await mkdtemp(join(tmpdir(), 'croft-bench-')));
  const postgres = await startPostgres(folder);
  try {
    await using few = await prepare(postgres, folder, FEW);
    await using many = await prepare(postgres, folder, MANY);
    yield* compare(few, many);
  } finally {
    await postgres.stop();
    if (kept === undefined) await rm(folder, { recursive: true, force: true });
  }
}

/** A server with a quarter of the memory, as PostgreSQL's manual has it: its default is that of a machine of long ago. */
async function startPostgres(folder: string): Promise<EmbeddedPostgres> {
  const options = { folder, log: silentLog, tuning: 'test' } as const;
  const first = await startEmbeddedPostgres(options);
  const megabytes = Math.floor(totalmem() / 4 / 2 ** 20);
  await runScript(first.url('croft'), `alter system set shared_buffers = '${megabytes}MB'`);
  await first.stop();
  return await startEmbeddedPostgres(options);
}

/** A service on tables with so many sessions. */
interface Filled extends AsyncDisposable {
  /** Milliseconds that so many refreshes took, sorted. */
  refresh(count: number): Promise<number[]>;
}

async function prepare(postgres: EmbeddedPostgres, folder: string, sessions: number): Promise<Filled> {
  const name = `sessions_${sessions}`;
  await postgres.createDatabase(name);
  const url = postgres.url(name);
  const service = await startServiceOn(url, folder);
  const mark = join(folder, `${name}.filled`);
  if (existsSync(mark)) await resetSessions(url);
  else await fillSessions(url, sessions);
  await writeFile(mark, '');
  await warmSessions(url);
  return await connect(service, sessions);
}

async function connect(service: Service, sessions: number): Promise<Filled> {
  const clients = await Promise.all(Array.from({ length: AT_ONCE }, () => client(service.address)));
  let next = 0;
  return {
    async refresh(count) {
      const times: number[] = [];
      const end = next + count;
      const work = async (by: Client): Promise<void> => {
        while (next < end) {
          const token = tokenNumber(next++, sessions);
          const startedAt = performance.now();
          await by.send('POST', '/token?grant_type=refresh_token', { refresh_token: token });
          times.push(performance.now() - startedAt);
        }
      };
      await Promise.all(clients.map(work));
      return times.sort((a, b) => a - b);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(clients.map((by) => by.end()));
      await service[Symbol.asyncDispose]();
    },
  };
}

async function* compare(few: Filled, many: Filled): AsyncGenerator<Figure> {
  // What a running server has warm: above all each connection its plans.
  await few.refresh(PER_ROUND);
  await many.refresh(PER_ROUND);
  const rounds: { few: number[]; many: number[] }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    // Neither is always the one that finds the machine as the other left it.
    const manyFirst = round % 2 === 1 ? await many.refresh(PER_ROUND) : undefined;
    const ofFew = await few.refresh(PER_ROUND);
    rounds.push({ few: ofFew, many: manyFirst ?? (await many.refresh(PER_ROUND)) });
  }
  for (const percent of [99, 50]) {
    const least = median(rounds.map((round) => percentile(round.few, percent)));
    const ours = median(rounds.map((round) => percentile(round.many, percent)));
    yield {
      bench: 'auth-many',
      figure: `a refresh among ${MANY.toLocaleString('en')} sessions, ${AT_ONCE} at once, p${percent}, against ${GROWTH} times that among ${FEW.toLocaleString('en')}`,
      ratio: (least * GROWTH) / ours,
      ours,
      theirs: least * GROWTH,
      unit: 'ms',
      ...(percent === 99 ? { limit: '≥ 1' } : {}),
    };
  }
}

const percentile = (sorted: readonly number[], percent: number): number =>
  sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? Number.NaN;
