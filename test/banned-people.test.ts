import { accessTokens } from '@croft/access-token';
import { forgeSettings, startForge } from '@croft/forge';
import { type RunningService, silentLog } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';
import { openDatabase } from '@croft/sql';
import { git, temporaryFolder, testDatabase } from '@croft/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAuthBeside } from './support/auth-service.ts';

// Decisions §3: whoever the auth service bans or deletes is refused by the forge within a minute, whatever he shows.

const SECRET = 'a-secret-of-at-least-thirty-two-characters';
const stack = new AsyncDisposableStack();
const folders = { data: '', trees: '' };
let auth: RunningService;
let forge: RunningService;
let databaseUrl: string;
let ahead = 0;

beforeAll(async () => {
  databaseUrl = stack.use(await testDatabase()).url;
  folders.data = stack.use(await temporaryFolder()).path;
  folders.trees = stack.use(await temporaryFolder()).path;
  auth = stack.adopt(
    await startAuthBeside(
      { databaseUrl, dataFolder: folders.data, log: silentLog, version: '0.1.0' },
      SECRET,
    ),
    (one) => one.close(1000),
  );
  forge = stack.adopt(
    await startForge({
      settings: readSettings(forgeSettings, { FORGE_HTTP_PORT: '0' }),
      databaseUrl,
      dataFolder: folders.data,
      log: silentLog,
      version: '0.1.0',
      atRestKey: new Secret(SECRET),
      clock: { now: () => new Date(Date.now() + ahead) },
      tokens: { secret: new Secret(SECRET), adminRoles: ['service_role'] },
      authUrl: auth.address,
    }),
    (one) => one.close(1000),
  );
});
afterAll(() => stack.disposeAsync());

interface Member {
  id: string;
  name: string;
  password: string;
  accessToken: string;
  personalToken: string;
}

async function json(address: string, method: string, headers: Record<string, string>, body?: unknown) {
  const answer = await fetch(address, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
}

/** Somebody with an account at both services, a personal access token and a private repository. */
async function member(name: string): Promise<Member> {
  const password = `correct horse of ${name}`;
  const email = `${name}@example.test`;
  const { body } = await json(`${auth.address}/signup`, 'POST', {}, { email, password });
  const { access_token: accessToken, user } = body as {
    access_token: string;
    user: { id: string };
  };
  const bearer = { authorization: `Bearer ${accessToken}` };
  const token = await json(`${forge.address}/api/v1/users/${name}/tokens`, 'POST', bearer, { name: 'ci' });
  await json(`${forge.address}/api/v1/user/repos`, 'POST', bearer, {
    name: 'mine',
    private: true,
    auto_init: true,
  });
  return { id: user.id, name, password, accessToken, personalToken: (token.body as { sha1: string }).sha1 };
}

/** What each way in answers: access token, personal access token, password, and git. */
async function waysIn(who: Member): Promise<(number | string)[]> {
  const basic = Buffer.from(`${who.name}:${who.password}`).toString('base64');
  const ask = async (authorization: string) =>
    (await json(`${forge.address}/api/v1/user`, 'GET', { authorization })).status;
  const address = `${forge.address.replace('://', `://${who.name}:${who.personalToken}@`)}/${who.name}/mine.git`;
  return [
    await ask(`Bearer ${who.accessToken}`),
    await ask(`token ${who.personalToken}`),
    await ask(`Basic ${basic}`),
    await git(folders.trees, 'ls-remote', address, 'HEAD').then(
      () => 'fetches',
      (error: unknown) => (/403/.test(String(error)) ? 'git is told 403' : String(error)),
    ),
  ];
}

const ban = (id: string, duration: string) =>
  json(
    `${auth.address}/admin/users/${id}`,
    'PUT',
    { authorization: `Bearer ${accessTokens(SECRET).sign({ role: 'service_role', exp: 9_999_999_999 })}` },
    { ban_duration: duration },
  );

const WELCOME = [200, 200, 200, 'fetches'];

test('a ban and its end reach every way in, a minute later at the latest', async () => {
  const ada = await member('ada');
  expect(await waysIn(ada)).toEqual(WELCOME);
  expect((await ban(ada.id, '24h')).status).toBe(200);
  ahead += 60_000;
  // The auth service itself no longer takes the password.
  expect(await waysIn(ada)).toEqual([403, 403, expect.toBeOneOf([401, 403]), 'git is told 403']);
  const push = await git(folders.trees, 'init', '-q', 'work')
    .then(() =>
      git(
        `${folders.trees}/work`,
        'fetch',
        `${forge.address.replace('://', `://x:${ada.personalToken}@`)}/ada/mine`,
      ),
    )
    .catch(String);
  expect(push).toMatch(/403/);
  expect((await ban(ada.id, 'none')).status).toBe(200);
  ahead += 60_000;
  expect(await waysIn(ada)).toEqual(WELCOME);
});

test('somebody deleted is refused, and what he has stays', async () => {
  const lin = await member('lin');
  const eve = await member('eve');
  const database = openDatabase({ url: databaseUrl, schema: 'auth', log: silentLog });
  await database.autocommit().run`delete from :schema.users where id = ${lin.id}`;
  await database.close();
  ahead += 60_000;
  expect(await waysIn(lin)).toEqual([403, 403, 401, 'git is told 403']);
  const seen = await json(`${forge.address}/api/v1/users/lin`, 'GET', {
    authorization: `token ${eve.personalToken}`,
  });
  expect(seen.status).toBe(200);
  expect(await waysIn(eve)).toEqual(WELCOME);
});

test('an administrator who is none any more loses it with every token he has', async () => {
  const database = openDatabase({ url: databaseUrl, schema: 'auth', log: silentLog });
  const boss = await member('boss');
  const become = (role: string) =>
    database.autocommit().run`update :schema.users set role = ${role} where id = ${boss.id}`;
  await become('service_role');
  const signedIn = await json(
    `${auth.address}/token?grant_type=password`,
    'POST',
    {},
    {
      email: 'boss@example.test',
      password: boss.password,
    },
  );
  const { access_token: token } = signedIn.body as { access_token: string };
  const administrates = async (authorization: string) =>
    (await json(`${forge.address}/api/v1/admin/users`, 'GET', { authorization })).status;
  // The forge's clock is ahead here: its last answer is younger than the token until it asks again.
  ahead += 60_000;
  expect(await administrates(`Bearer ${token}`)).toBe(200);
  expect(await administrates(`token ${boss.personalToken}`)).toBe(200);
  await become('authenticated');
  await database.close();
  ahead += 60_000;
  // Not the second time either, when nobody is asked: a token from before does not bring it back.
  for (const credentials of [`token ${boss.personalToken}`, `Bearer ${token}`, `Bearer ${token}`])
    expect(await administrates(credentials)).toBe(403);
});

test('banned before the first call: no account is made', async () => {
  const { body } = await json(
    `${auth.address}/signup`,
    'POST',
    {},
    {
      email: 'early@example.test',
      password: 'correct horse of early',
    },
  );
  const { access_token: token, user } = body as { access_token: string; user: { id: string } };
  await ban(user.id, '24h');
  const first = await json(`${forge.address}/api/v1/user`, 'GET', { authorization: `Bearer ${token}` });
  expect(first.status).toBe(403);
  const eve = await member('onlooker');
  const looked = await json(`${forge.address}/api/v1/users/early`, 'GET', {
    authorization: `token ${eve.personalToken}`,
  });
  expect(looked.status).toBe(404);
});
