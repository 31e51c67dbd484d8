import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { accessTokens } from '@croft/access-token';
import type { Log } from '@croft/runtime';
import { silentLog } from '@croft/runtime';
import { fixedClock } from '@croft/testing';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { personWith, request, SECRET, tokenFor, useForge } from './forge.ts';

// How the forge asks the auth service about people, and what it does while it gets no answer. That the real service
// answers so, and what becomes of banned people, is in test/banned-people.test.ts.

const warnings: string[] = [];
const log: Log = {
  ...silentLog,
  warn: (_fields: unknown, message?: string) => void warnings.push(message ?? ''),
} as Log;
/** Near the time of the machine, which signs the tokens of the tests. */
const clock = fixedClock(new Date().toISOString());
let questions: { id: string; role: string | undefined; answer: ServerResponse }[] = [];
let reply: (id: string, answer: ServerResponse) => void;
const welcome = (id: string, answer: ServerResponse) => void answer.end(JSON.stringify({ id }));
const refuse = (_id: string, answer: ServerResponse) => {
  answer.statusCode = 404;
  answer.end(JSON.stringify({ code: 404, error_code: 'user_not_found', msg: 'User not found' }));
};

/** Whose password is right, whatever it is, and for which addresses one was tried. */
let known = { sub: '', email: '' };
let tried: string[] = [];

const auth = createServer(async (question, answer) => {
  if (question.url?.startsWith('/logout') === true) return answer.writeHead(204).end();
  if (question.method === 'POST') {
    const { email } = (await json(question)) as { email: string };
    tried.push(email);
    answer.statusCode = email === known.email ? 200 : 400;
    const token = tokenFor('signer', {
      sub: known.sub,
      email,
      iat: Math.floor(clock.now().getTime() / 1000),
    });
    return answer.end(
      JSON.stringify(
        answer.statusCode === 200 ? { access_token: token } : { error_code: 'invalid_credentials' },
      ),
    );
  }
  const id = question.url?.replace('/admin/users/', '') ?? '';
  const token = question.headers.authorization?.replace('Bearer ', '') ?? '';
  const claims = accessTokens(SECRET, () => clock.now().getTime()).verify(token);
  questions.push({ id, role: claims.role, answer });
  reply(id, answer);
});
beforeAll(async () => {
  auth.listen(0, '127.0.0.1');
  await once(auth, 'listening');
});
afterAll(() => {
  auth.closeAllConnections();
  auth.close();
});
beforeEach(() => {
  // Whatever paused or was remembered is over.
  clock.advance(61_000);
  questions = [];
  warnings.length = 0;
  reply = welcome;
});

const scene = useForge({
  clock,
  log,
  authUrl: () => `http://127.0.0.1:${(auth.address() as AddressInfo).port}`,
});
const someone = (name: string) => {
  const sub = randomUUID();
  return { sub, person: scene.person(name, { sub }) };
};
const statusOf = (login: string) =>
  scene.sql.row<{ refused: boolean; checked: boolean }>`
    select refused_at is not null as refused, checked_at is not null as checked from :schema.users where login = ${login}`;

it('one question a minute for each account, however many requests come at once', async () => {
  const { sub, person } = someone('once');
  await person.call('GET', '/user');
  expect(questions).toMatchObject([{ id: sub, role: 'service_role' }]);
  await Promise.all(Array.from({ length: 10 }, () => person.call('GET', '/user')));
  clock.advance(59_999);
  await person.call('GET', '/user');
  expect(questions).toHaveLength(1);
  clock.advance(1);
  await Promise.all(Array.from({ length: 10 }, () => person.call('GET', '/user')));
  expect(questions).toHaveLength(2);
});

it('who is refused gets no account, and an account that is refused keeps everything else', async () => {
  const { person } = someone('newcomer');
  reply = refuse;
  const { status, body } = await person.call('GET', '/user');
  expect([status, body.message]).toEqual([403, 'This account is prohibited from signing in.']);
  await person.call('GET', '/user');
  expect(questions).toHaveLength(1);
  expect(await statusOf('newcomer')).toBeUndefined();
  clock.advance(60_000);
  reply = welcome;
  expect((await person.call('GET', '/user')).status).toBe(200);
});

it('while the service does not answer, people stay what they were, and the log says so', async () => {
  const { person: fine } = someone('fine');
  const { person: banned } = someone('banned');
  for (const person of [fine, banned]) await person.call('GET', '/user');
  clock.advance(60_000);
  reply = (id, answer) => (questions.at(-1)?.id === id ? refuse(id, answer) : undefined);
  expect((await banned.call('GET', '/user')).status).toBe(403);
  clock.advance(60_000);
  questions = [];
  reply = (_id, answer) => answer.destroy();
  expect((await fine.call('GET', '/user')).status).toBe(200);
  // The next one does not wait for a service that is away, and is tried again when the pause is over.
  expect((await banned.call('GET', '/user')).status).toBe(403);
  expect(questions).toHaveLength(1);
  clock.advance(10_000);
  expect((await banned.call('GET', '/user')).status).toBe(403);
  expect((await fine.call('GET', '/user')).status).toBe(200);
  expect(questions).toHaveLength(2);
  expect(warnings).toEqual([
    'the auth service cannot be asked who was banned or deleted: accounts stay as they are',
  ]);
  // Also somebody new: his token is good.
  expect((await someone('during').person.call('GET', '/user')).status).toBe(200);
  clock.advance(60_000);
  reply = welcome;
  expect((await banned.call('GET', '/user')).status).toBe(200);
  expect(await statusOf('banned')).toEqual({ refused: false, checked: true });
});

it.each([
  ['a service without the endpoint', 404, '{"code":404,"error_code":"not_found","msg":"?"}'],
  ['a proxy', 404, '<html>'],
  ['a service that does not know our secret', 403, '{"code":403,"error_code":"bad_jwt"}'],
  ['a service that fails', 500, '{}'],
])('%s refuses nobody', async (what, status, body) => {
  reply = (_id, answer) => {
    answer.statusCode = status;
    answer.end(body);
  };
  const { person } = someone(what.replaceAll(' ', '-').slice(0, 30));
  expect((await person.call('GET', '/user')).status).toBe(200);
  expect(warnings).toHaveLength(1);
  clock.advance(59_000);
  await person.call('GET', '/user');
  expect(questions).toHaveLength(1);
});

it('a service that hangs costs one request two seconds, and the others nothing', async () => {
  const { person } = someone('hanging');
  await person.call('GET', '/user');
  clock.advance(60_000);
  reply = () => {};
  const startedAt = performance.now();
  expect((await person.call('GET', '/user')).status).toBe(200);
  expect(performance.now() - startedAt).toBeLessThan(4_000);
  const againAt = performance.now();
  expect((await person.call('GET', '/user')).status).toBe(200);
  expect(performance.now() - againAt).toBeLessThan(1_000);
  for (const { answer } of questions) answer.destroy();
});

it('an administrator is who the auth service says it last, whatever an older token says', async () => {
  const sub = randomUUID();
  const says = (role: string) => {
    reply = (id, answer) => void answer.end(JSON.stringify({ id, role }));
  };
  says('service_role');
  const old = scene.person('boss', { sub, role: 'service_role' });
  const isAdmin = async (who = old) => {
    const { status, body } = await who.call('GET', '/user');
    const row = await scene.sql.row<{ is_admin: boolean }>`
      select is_admin from :schema.users where login = 'boss'`;
    expect([status, body['is_admin']]).toEqual([200, row?.is_admin]);
    return row?.is_admin;
  };
  expect(await isAdmin()).toBe(true);
  says('authenticated');
  clock.advance(60_000);
  // At once, and as long as the answer counts.
  for (let time = 0; time < 3; time++) expect(await isAdmin()).toBe(false);
  expect((await old.call('GET', '/admin/users')).status).toBe(403);
  // A token from after the answer counts again; and so does the next answer.
  const later = Math.floor(clock.now().getTime() / 1000) + 1;
  expect(await isAdmin(scene.person('boss', { sub, role: 'service_role', iat: later }))).toBe(true);
  says('authenticated');
  clock.advance(60_000);
  expect(await isAdmin()).toBe(false);
  says('service_role');
  clock.advance(60_000);
  expect(await isAdmin()).toBe(true);
});

it('attack: who administrates no more gets no account that does, with a token from before', async () => {
  const sub = randomUUID();
  reply = (id, answer) => void answer.end(JSON.stringify({ id, role: 'authenticated' }));
  const demoted = scene.person('demoted', { sub, role: 'service_role' });
  expect((await demoted.call('GET', '/admin/users')).status).toBe(403);
  for (let time = 0; time < 2; time++)
    expect((await demoted.call('GET', '/user')).body).toMatchObject({ login: 'demoted', is_admin: false });
  expect(questions).toHaveLength(1);
  const row = await scene.sql.row`select is_admin from :schema.users where login = 'demoted'`;
  expect(row).toEqual({ is_admin: false });
});

it('personal access tokens are asked about too', async () => {
  const { person } = someone('tokens');
  await person.call('GET', '/user');
  const { body } = await person.call('POST', '/users/tokens/tokens', { name: 't' });
  const limited = personWith('tokens', body.sha1, () => scene.address);
  expect((await limited.call('GET', '/user')).status).toBe(200);
  clock.advance(60_000);
  reply = refuse;
  expect((await limited.call('GET', '/user')).status).toBe(403);
});

it('an account has the address and the full name that the auth service tells of, when they are newer', async () => {
  const sub = randomUUID();
  const says = (email: string) => {
    const body = { email, user_metadata: { full_name: `Name of ${email}` } };
    reply = (id, answer) => void answer.end(JSON.stringify({ id, ...body }));
  };
  says('first@example.test');
  const person = scene.person('mover', { sub, email: 'token@example.test' });
  const shown = async (who = person) => {
    const { email, full_name: name } = (await who.call('GET', '/user')).body;
    const row = await scene.sql.row`select email, full_name from :schema.users where login = 'mover'`;
    expect([row, name]).toEqual([{ email, full_name: name }, `Name of ${email as string}`]);
    return email;
  };
  expect(await shown()).toBe('first@example.test');
  says('second@example.test');
  expect(await shown()).toBe('first@example.test');
  clock.advance(60_000);
  expect(await shown()).toBe('second@example.test');
  // Personal access tokens, too, are occasions to ask.
  const { body } = await person.call('POST', '/users/mover/tokens', { name: 't' });
  const limited = personWith('mover', body.sha1, () => scene.address);
  says('third@example.test');
  clock.advance(60_000);
  expect(await shown(limited)).toBe('third@example.test');
  const later = Math.floor(clock.now().getTime() / 1000) + 1;
  const email = 'fourth@example.test';
  const claims = { sub, iat: later, email, user_metadata: { full_name: `Name of ${email}` } };
  expect(await shown(scene.person('mover', claims))).toBe(email);
  expect(await shown()).toBe(email);
  // A name that was chosen here stays.
  await person.call('PATCH', '/user/settings', { full_name: 'Chosen' });
  says('fifth@example.test');
  clock.advance(60_000);
  expect((await person.call('GET', '/user')).body).toMatchObject({
    email: 'fifth@example.test',
    full_name: 'Chosen',
  });
});

it('a password is checked for the address that somebody has now', async () => {
  const sub = randomUUID();
  let email = 'before@example.test';
  reply = (id, answer) => void answer.end(JSON.stringify({ id, email, user_metadata: {} }));
  await scene.person('signer', { sub, email }).call('GET', '/user');
  const signIn = (password: string) =>
    request(`${scene.address}/api/v1/user`, 'GET', undefined, {
      authorization: `Basic ${Buffer.from(`signer:${password}`).toString('base64')}`,
    });
  known = { sub, email };
  expect((await signIn('one')).status).toBe(200);
  email = 'after@example.test';
  known = { sub, email };
  clock.advance(60_000);
  tried = [];
  expect((await signIn('two')).body).toMatchObject({ login: 'signer', email });
  expect(tried).toEqual(['before@example.test', email]);
  tried = [];
  expect((await signIn('three')).status).toBe(200);
  expect(tried).toEqual([email]);
});
