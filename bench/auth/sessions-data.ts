import { createHash } from 'node:crypto';
import { silentLog } from '@croft/runtime';
import { openDatabase, type Tx } from '@croft/sql';
import { atRest } from '../../services/auth/src/at-rest.ts';
import { writeRefreshToken } from '../../services/auth/src/rules/tokens/refresh-token.ts';
import { AT_REST_KEY } from './service.ts';

/** Sessions of one person: a laptop, a phone, and some that were forgotten. */
const PER_USER = 5;
const SCHEMA = 'auth';
/** The order of the sessions in the table is that of their numbers; that of their ids, and so of every index, is none. */
const STRIDE = 15_485_863;
const key = atRest(AT_REST_KEY).refreshTokens;

/**
 * Fills the tables of a service that has nobody yet: people with an identity, five sessions each, and for each session a
 * family that was rotated once, which is two refresh tokens.
 */
export async function fillSessions(databaseUrl: string, sessions: number): Promise<void> {
  await inOneSession(databaseUrl, async (tx) => {
    const users = Math.ceil(sessions / PER_USER);
    // Neither foreign keys nor triggers: what is written here fits together.
    await tx.script('set session_replication_role = replica');
    await tx.script(`drop index if exists "${SCHEMA}".users_email_trgm`);
    await tx.run`
      insert into :schema.users (id, aud, role, email, encrypted_password, email_confirmed_at, last_sign_in_at,
        raw_app_meta_data, raw_user_meta_data, created_at, updated_at)
      select md5('user ' || n)::uuid, 'authenticated', 'authenticated', 'user-' || n || '@example.com', 'none',
        now(), now(), '{"provider": "email", "providers": ["email"]}',
        jsonb_build_object('sub', md5('user ' || n), 'email', 'user-' || n || '@example.com'), now(), now()
      from generate_series(1, ${users}::integer) n`;
    await tx.run`
      insert into :schema.identities (provider_id, user_id, identity_data, provider, created_at, updated_at)
      select id::text, id, raw_user_meta_data, 'email', created_at, created_at from :schema.users`;
    await tx.run`
      insert into :schema.sessions (id, user_id, user_agent, ip, created_at, updated_at)
      select md5('session ' || n)::uuid, md5('user ' || 1 + n % ${users}::integer)::uuid, 'a browser', '203.0.113.7',
        now(), now()
      from generate_series(1, ${sessions}::integer) n`;
    await tx.run`
      insert into :schema.refresh_tokens (session_id, token_hash, parent_hash, counter, rotated_at)
      select id, sha256(decode(md5('secret ' || id), 'hex')), sha256(decode(md5('parent ' || id), 'hex')), 1, now()
      from :schema.sessions`;
    await tx.run`
      insert into :schema.mfa_amr_claims (session_id, authentication_method, created_at, updated_at)
      select id, 'password', created_at, created_at from :schema.sessions`;
    await tx.script('vacuum analyze');
  });
}

/** Makes the tokens of kept tables those of the beginning again. */
export async function resetSessions(databaseUrl: string): Promise<void> {
  await inOneSession(databaseUrl, async (tx) => {
    await tx.run`
      update :schema.refresh_tokens set counter = 1, token_hash = sha256(decode(md5('secret ' || session_id), 'hex')),
        parent_hash = sha256(decode(md5('parent ' || session_id), 'hex'))
      where counter > 1`;
    await tx.script('vacuum analyze');
  });
}

/** Has everything in the memory of the server, where it is after an hour in which everybody refreshed once. */
export async function warmSessions(databaseUrl: string): Promise<void> {
  await inOneSession(databaseUrl, async (tx) => {
    await tx.script('create extension if not exists pg_prewarm');
    await tx.run`
      select pg_prewarm(oid::regclass) from pg_class
      where relnamespace = ${SCHEMA}::regnamespace and relkind in ('r', 'i')`;
  });
}

/** Runs a statement that stands alone. */
export function runScript(databaseUrl: string, script: string): Promise<void> {
  return inOneSession(databaseUrl, (tx) => tx.script(script));
}

/** The token of a session somewhere in the table: another one for each number below the number of sessions. */
export function tokenNumber(number: number, sessions: number): string {
  const session = 1 + Number((BigInt(number) * BigInt(STRIDE)) % BigInt(sessions));
  const id = md5(`session ${session}`).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return writeRefreshToken(
    { sessionId: id, counter: 1, secret: Buffer.from(md5(`secret ${id}`), 'hex') },
    key,
  );
}

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

async function inOneSession(url: string, work: (tx: Tx) => Promise<void>): Promise<void> {
  const database = openDatabase({
    url,
    schema: SCHEMA,
    log: silentLog,
    poolSize: 1,
    statementTimeoutMs: 3_600_000,
  });
  try {
    await work(database.autocommit());
  } finally {
    await database.close();
  }
}
