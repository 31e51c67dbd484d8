import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { authSettings, migrateAuth } from '@croft/auth';
import { silentLog } from '@croft/runtime';
import { readSettings } from '@croft/settings';
import { type Database, openDatabase } from '@croft/sql';
import { startEmbeddedPostgres } from '@croft/sql/embedded';
import { searchUsers } from '../services/auth/src/store/user-search.ts';
import type { Figure } from './figure.ts';

const USERS = 1_000_000;
const ROUNDS = 200;
const LIMIT_MS = 30;
const PER_PAGE = 50;

/** What people type, from what finds one to what finds a fifth of all; none of it can be answered from a cache of answers. */
const FRAGMENTS: readonly ((round: number) => string)[] = [
  (round) => `user-${(round * 4_985) % USERS}@`,
  (round) => `${(round * 7_919) % USERS}`,
  (round) => `lovelace.${1 + (round % 9)}`,
  () => 'example.org',
  () => 'hopper',
  () => 'no-such-person',
  () => 'ad', // shorter than a trigram
];

const settings = readSettings(authSettings, {
  AUTHSVC_SITE_URL: 'http://127.0.0.1',
  AUTHSVC_API_EXTERNAL_URL: 'http://127.0.0.1',
  AUTHSVC_JWT_SECRET: 'the secret of a benchmark',
});

/** Listing and searching a million users: the slowest of a hundred, for pages of fifty, one at a time. */
export async function* figures(): AsyncGenerator<Figure> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-bench-'));
  const postgres = await startEmbeddedPostgres({ folder, log: silentLog, tuning: 'test' });
  const url = postgres.url('croft');
  await migrateAuth({ settings, databaseUrl: url, log: silentLog });
  const database = openDatabase({ url, schema: settings.DB_NAMESPACE, log: silentLog, poolSize: 2 });
  try {
    await fill(database);
    // Far pages are asked for by scripts that read everything; people look at the first ones.
    yield await measure(database, 'listing', (round) => ({ fragment: '', page: 1 + (round % 20) }));
    yield await measure(database, 'searching by a fragment of the address', (round) => ({
      fragment: FRAGMENTS[round % FRAGMENTS.length]?.(round) ?? '',
      page: 1 + (Math.floor(round / FRAGMENTS.length) % 3),
    }));
  } finally {
    await database.close();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(
  database: Database,
  what: string,
  ask: (round: number) => { fragment: string; page: number },
): Promise<Figure> {
  const times: number[] = [];
  // The first tenth only warms up what a running server has warm.
  for (let round = -ROUNDS / 10; round < ROUNDS; round++) {
    const startedAt = performance.now();
    await searchUsers(database.autocommit(), { ...ask(Math.abs(round)), perPage: PER_PAGE });
    if (round >= 0) times.push(performance.now() - startedAt);
  }
  const ours = times.sort((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] ?? Number.NaN;
  return {
    bench: 'auth-search',
    figure: `${what}, 1,000,000 users, p99`,
    ratio: LIMIT_MS / ours,
    ours,
    theirs: LIMIT_MS,
    unit: 'ms',
    limit: '≥ 1',
  };
}

/** A million users with an identity each, in statements that stay below the time-out. */
async function fill(database: Database): Promise<void> {
  const AT_ONCE = 10_000;
  // Built afterwards, as an import would: row by row it takes minutes.
  const trigrams = await database.autocommit().row<{ definition: string }>`
    select indexdef as definition from pg_indexes where schemaname = 'auth' and indexname = 'users_email_trgm'`;
  if (trigrams === undefined) throw new Error('the database has no trigram index to measure');
  await database.autocommit().script('drop index auth.users_email_trgm');
  for (let from = 0; from < USERS; from += AT_ONCE) {
    await database.autocommit().run`
      with made as (
        insert into :schema.users (id, aud, role, email, email_confirmed_at, raw_app_meta_data, created_at, updated_at)
        select gen_random_uuid(), 'authenticated', 'authenticated',
          case n % 5 when 0 then 'user-' || n when 1 then 'ada.lovelace.' || n when 2 then 'hopper' || n
            when 3 then md5(n::text) else 'k.johnson+' || n end
            || '@' || (array['example.com', 'example.org', 'mail.example.net', 'croft.test', 'uni.example.edu'])[1 + n / 7 % 5],
          now(), '{"provider":"email","providers":["email"]}', now() - n * interval '1 second', now()
        from generate_series(${from}::int, ${from + AT_ONCE - 1}::int) n
        returning id, email, created_at)
      insert into :schema.identities (provider_id, user_id, identity_data, provider, created_at, updated_at)
      select id::text, id, jsonb_build_object('sub', id, 'email', email), 'email', created_at, created_at from made`;
  }
  await database.autocommit().script(trigrams.definition);
  // What autovacuum does within the minute.
  await database.autocommit().script('vacuum analyze auth.users');
  await database.autocommit().script('vacuum analyze auth.identities');
}
