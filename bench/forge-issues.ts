import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { forgeSettings, migrateForge } from '@croft/forge';
import { silentLog } from '@croft/runtime';
import { readSettings } from '@croft/settings';
import { type Database, openDatabase } from '@croft/sql';
import { startEmbeddedPostgres } from '@croft/sql/embedded';
import { listInRepository, search } from '../services/forge/src/store/issues/issue-lists.ts';
import { type Figure } from './figure.ts';
import { fillForge, READER, SIZE, word } from './forge/data.ts';

const AT_ONCE = 16;
const ROUNDS = 800;
const page = { limit: 30, offset: 0 };
const scope = {
  userId: READER,
  seesAll: false,
  publicOnly: false,
  ownerId: null,
  teamId: null,
  priorityRepositoryId: 0,
};
const everything = {
  state: 'open',
  kind: 'all',
  keyword: '',
  labels: [],
  milestones: null,
  since: null,
  before: null,
  createdBy: null,
  assignedBy: null,
  mentioned: '',
} as const;

/** From a word that most issues have to one that a single issue has, and one that none has. */
const KEYWORDS: readonly ((round: number) => string)[] = [
  () => word(0),
  () => word(20),
  () => word(600),
  (round) => word(10_000 + (round % 9_000)),
  (round) => `ref${(round * 7_919) % SIZE.issues}`,
  () => 'no-such-thing',
];

/** The statements behind lists and searches of issues: the slowest of a hundred, sixteen at once. */
export async function* figures(): AsyncGenerator<Figure> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-bench-'));
  const postgres = await startEmbeddedPostgres({ folder, log: silentLog, tuning: 'test' });
  const url = postgres.url('croft');
  const settings = readSettings(forgeSettings, {});
  await migrateForge({ settings, databaseUrl: url, log: silentLog });
  await fillForge(url, settings.DB_SCHEMA);
  const database = openDatabase({ url, schema: settings.DB_SCHEMA, log: silentLog, poolSize: AT_ONCE });
  try {
    yield await measure(database, 'listing a repository', 15, (tx, round) => {
      const repositoryId = 1 + ((round * 37) % SIZE.repositories);
      const where = { repositoryId, ownerId: 0, issues: true, pulls: true };
      return listInRepository(tx, where, everything, page);
    });
    yield await measure(database, 'searching without a keyword', 15, (tx, round) =>
      search(tx, scope, { ...everything, labels: round % 2 === 0 ? [] : ['bug'] }, page),
    );
    yield await measure(database, 'searching for a keyword', 40, (tx, round) =>
      search(tx, scope, { ...everything, keyword: KEYWORDS[round % KEYWORDS.length]?.(round) ?? '' }, page),
    );
  } finally {
    await database.close();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(
  database: Database,
  what: string,
  limitMs: number,
  ask: (tx: ReturnType<Database['autocommit']>, round: number) => Promise<unknown>,
): Promise<Figure> {
  const times: number[] = [];
  // The first tenth only warms up what a running server has warm.
  let round = -ROUNDS / 10;
  async function client(): Promise<void> {
    while (round < ROUNDS) {
      const mine = round++;
      const startedAt = performance.now();
      await ask(database.autocommit(), Math.abs(mine));
      if (mine >= 0) times.push(performance.now() - startedAt);
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  const ours = times.sort((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] ?? Number.NaN;
  return {
    bench: 'forge-issues',
    figure: `${what}, ${SIZE.issues.toLocaleString('en')} issues, ${AT_ONCE} at once, p99`,
    ratio: limitMs / ours,
    ours,
    theirs: limitMs,
    unit: 'ms',
    limit: '≥ 1',
  };
}
