import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, testDatabase } from '@croft/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { croft, finish, ready } from './support/command-line.ts';
import { type Place, placeFor } from './support/croft.ts';

let base: string;
let dispose: () => Promise<void>;
let place: Place;
let running: ChildProcess;
beforeAll(async () => {
  const folder = await temporaryFolder();
  base = folder.path;
  dispose = async () => await folder[Symbol.asyncDispose]();
  place = await placeFor(join(base, 'data'));
  running = croft(place, ['start', 'auth']);
  await ready(running);
});
afterAll(async () => {
  if (running.exitCode === null) {
    running.kill();
    await once(running, 'exit');
  }
  await dispose();
});

const PASSWORD = 'correct horse battery';
/** The password on standard input, as a script would have it. */
const TYPED = { through: ['sh', '-c', `printf '%s\\r\\nmore\\n' '${PASSWORD}' | "$@"`, 'sh'] };

const admin = (words: string[], at = place, options = {}) =>
  finish(croft(at, ['auth', 'admin', ...words], options));

async function post(path: string, body: object) {
  const response = await fetch(`http://127.0.0.1:${place.authPort}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
const signIn = (email: string, password: string) => post('/token?grant_type=password', { email, password });

describe('beside a running Croft', () => {
  it('makes, lists, links and deletes users, and leaves the data folder to it', {
    timeout: 150_000,
  }, async () => {
    const keys = () => {
      const { jwtSecret, atRestKey } = JSON.parse(
        readFileSync(join(place.data, 'secrets.json'), 'utf8'),
      ) as Record<string, string>;
      return { jwtSecret, atRestKey };
    };
    const before = keys();
    const [ada, bob, weak] = await Promise.all([
      admin(['create-user', 'ada@example.test']),
      admin(['create-user', 'bob@example.test', '--role', 'authenticated', '--password-stdin'], place, TYPED),
      admin(['create-user', 'eve@example.test', '--password-stdin'], place, {
        through: ['sh', '-c', `echo abc | "$@"`, 'sh'],
      }),
    ]);
    expect(ada).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^name {6}ada@example\.test\npassword {2}\S{20}\n$/),
    });
    expect(bob).toMatchObject({ code: 0, out: 'name      bob@example.test\n' });
    expect(weak).toMatchObject({
      code: 1,
      out: '',
      errors: expect.stringContaining('Password should be at least 6'),
    });
    expect(weak.errors).not.toContain('    at ');
    const made = /password {2}(\S+)/.exec(ada.out)?.[1] ?? '';
    expect((await signIn('ada@example.test', made)).body['user']).toMatchObject({ role: 'service_role' });
    expect((await signIn('bob@example.test', PASSWORD)).body['user']).toMatchObject({
      role: 'authenticated',
    });

    const [taken, some, shown, link, wrong] = await Promise.all([
      admin(['create-user', 'bob@example.test', '--role', 'authenticated', '--generate-password']),
      admin(['list-users', 'BOB@', '--json', '--per-page', '1']),
      admin(['list-users', 'example.test']),
      admin(['generate-link', 'recovery', 'bob@example.test', '--json']),
      admin(['generate-link', 'recovery', 'bob@example.test', '--redirect-to', 'https://evil.example']),
    ]);
    expect(taken).toMatchObject({
      code: 1,
      out: '',
      errors: expect.stringContaining('already been registered'),
    });
    expect(JSON.parse(some.out)).toMatchObject({
      total: 1,
      total_is_exact: true,
      page: 1,
      per_page: 1,
      users: [{ email: 'bob@example.test', role: 'authenticated' }],
    });
    expect(some.out + shown.out).not.toMatch(/argon2|encrypted/);
    expect(shown.out).toMatch(/^ID .*\n\S{36} {2}\S+@example\.test {2}/);
    expect(shown.out).toContain('2 users, page 1 of 1');
    expect(wrong).toMatchObject({
      code: 1,
      out: '',
      errors: expect.stringContaining('AUTHSVC_URI_ALLOW_LIST'),
    });

    const { hashed_token: token_hash } = JSON.parse(link.out) as Record<string, string>;
    expect((await post('/verify', { type: 'recovery', token_hash })).body['user']).toMatchObject({
      email: 'bob@example.test',
    });

    const { users } = JSON.parse(some.out) as { users: { id: string }[] };
    const gone = await admin(['delete-user', users[0]?.id ?? '']);
    expect(gone).toMatchObject({ code: 0, out: `deleted ${users[0]?.id} bob@example.test\n` });
    expect((await signIn('bob@example.test', PASSWORD)).status).toBe(400);
    const again = await admin(['delete-user', 'bob@example.test']);
    expect(again).toMatchObject({
      code: 1,
      out: '',
      errors: expect.stringContaining('User with this email not found'),
    });
    expect(keys()).toEqual(before);
    expect(running.exitCode).toBeNull();
  });
});

it('nonsense ends with 2, help with 0, and neither makes anything', async () => {
  const empty = { ...place, data: join(base, 'nothing') };
  const cases: [string[], number][] = [
    [['--help'], 0],
    [[], 2],
    // A password in the list of processes.
    [['create-user', 'ada@example.test', 'correct horse'], 2],
    [['create-user', 'ada@example.test', '--password', 'correct horse'], 2],
    [['list-users', '--per-page', '0'], 2],
    [['generate-link', 'recovery'], 2],
    [['generate-link', 'recover', 'ada@example.test'], 2],
    // No such Croft: a misspelt folder does not become one.
    [['list-users'], 1],
  ];
  const ended = await Promise.all(cases.map(([words]) => admin(words, empty)));
  expect(ended.map(({ code }) => code)).toEqual(cases.map(([, code]) => code));
  for (const { out, errors } of ended) expect(out + errors).not.toMatch(/ {4}at /);
  expect(ended.at(-1)?.errors).toContain('There is no Croft in');
  expect(existsSync(empty.data)).toBe(false);
});

it('on a database of its own nothing is locked or made; links want the key of the Croft that accepts them', {
  timeout: 150_000,
}, async () => {
  await using database = await testDatabase();
  const own = { ...place, data: join(base, 'elsewhere'), env: { DATABASE_URL: database.url } };
  const made = await admin(['create-user', 'ada@example.test', '--generate-password'], own);
  expect(made).toMatchObject({ code: 0, out: expect.stringContaining('ada@example.test') });
  const forge = { FORGE_ROOT_URL: 'https://git.example.test' };
  const keyed = {
    ...own,
    env: { ...own.env, ...forge, CROFT_AT_REST_KEY: 'the key of all Crofts on that database' },
  };
  const [keyless, link] = await Promise.all([
    admin(['generate-link', 'magiclink', 'ada@example.test'], own),
    admin(['generate-link', 'magiclink', 'ada@example.test'], keyed),
  ]);
  expect(keyless).toMatchObject({ code: 1, out: '', errors: expect.stringContaining('CROFT_AT_REST_KEY') });
  expect(link).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^link {6}http\S+type=magiclink\S+\ncode {6}\d{6}\n$/),
  });
  // The site is the same as in the mails of a Croft with these settings.
  expect(link.out).toContain('redirect_to=https://git.example.test');
  expect(existsSync(own.data)).toBe(false);
});

it('without a running Croft the database is started for the task, and ended after it', {
  timeout: 150_000,
}, async () => {
  running.kill();
  await once(running, 'exit');
  const listed = await admin(['list-users', '--json']);
  expect(listed.code).toBe(0);
  expect(JSON.parse(listed.out)).toMatchObject({ total: 2 });
  expect(readdirSync(join(place.data, 'postgres/cluster'))).not.toContain('postmaster.pid');
});
