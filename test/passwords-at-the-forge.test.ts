import { forgeSettings, startForge } from '@croft/forge';
import { type RunningService, silentLog } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';
import { type Database, openDatabase } from '@croft/sql';
import { temporaryFolder, testDatabase } from '@croft/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAuthBeside } from './support/auth-service.ts';

// A password at the forge is a sign-in at the auth service: its session ends at once and is nobody's newer one.

const SECRET = 'a-secret-of-at-least-thirty-two-characters';
const EMAIL = 'ada@example.test';
const PASSWORD = 'correct horse of ada';
const stack = new AsyncDisposableStack();
let auth: RunningService;
let forge: RunningService;
let database: Database;

beforeAll(async () => {
  const databaseUrl = stack.use(await testDatabase()).url;
  const dataFolder = stack.use(await temporaryFolder()).path;
  const shared = { databaseUrl, dataFolder, log: silentLog, version: '0.1.0' };
  auth = stack.adopt(
    await startAuthBeside(shared, SECRET, { AUTHSVC_SESSIONS_SINGLE_PER_USER: 'true' }),
    (one) => one.close(1000),
  );
  database = stack.adopt(openDatabase({ url: databaseUrl, schema: 'auth', log: silentLog }), (one) =>
    one.close(),
  );
  forge = stack.adopt(
    await startForge({
      ...shared,
      settings: readSettings(forgeSettings, { FORGE_HTTP_PORT: '0' }),
      atRestKey: new Secret(SECRET),
      tokens: { secret: new Secret(SECRET), adminRoles: ['service_role'] },
      authUrl: auth.address,
    }),
    (one) => one.close(1000),
  );
});
afterAll(() => stack.disposeAsync());

async function post(path: string, body: object) {
  const answer = await fetch(`${auth.address}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as { refresh_token: string } };
}

async function atTheForge(password: string): Promise<number> {
  const authorization = `Basic ${Buffer.from(`${EMAIL}:${password}`).toString('base64')}`;
  return (await fetch(`${forge.address}/api/v1/user`, { headers: { authorization } })).status;
}

/** Sessions that there are, and what was done with any. */
async function inTheDatabase() {
  const sessions = await database.autocommit().rows<{ id: string }>`select id from :schema.sessions`;
  const entries = await database.autocommit().rows<{ action: string }>`
    select payload ->> 'action' as action from :schema.audit_log_entries order by created_at`;
  return { sessions: sessions.map(({ id }) => id), actions: entries.map(({ action }) => action) };
}

test('a password at the forge leaves no session behind, and the browser signed in', async () => {
  const browser = await post('/signup', { email: EMAIL, password: PASSWORD });
  expect(browser.status).toBe(200);
  const before = await inTheDatabase();
  expect(before.sessions).toHaveLength(1);

  // A build asks for many things at once; the auth service is asked once.
  const answers = await Promise.all(Array.from({ length: 8 }, () => atTheForge(PASSWORD)));
  expect(answers).toEqual(Array(8).fill(200));
  const after = await inTheDatabase();
  expect(after.sessions).toEqual(before.sessions);
  expect(after.actions.slice(before.actions.length).sort()).toEqual(['login', 'logout']);

  const { refresh_token } = browser.body;
  expect((await post('/token?grant_type=refresh_token', { refresh_token })).status).toBe(200);
  // What is remembered serves on after its session has ended.
  expect(await atTheForge(PASSWORD)).toBe(200);
});

test('a wrong one changes nothing', async () => {
  const before = await inTheDatabase();
  expect(await atTheForge('wrong')).toBe(401);
  expect(await inTheDatabase()).toEqual(before);
});
