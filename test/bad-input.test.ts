import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { git, temporaryFolder } from '@croft/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { auth, forgeClient, signUpByMail } from './support/clients.ts';
import { croftState } from './support/command-line.ts';
import { type Croft, type Place, placeFor, startCroft } from './support/croft.ts';
import { dumpStates } from './support/stock-client.ts';
import { sampleTree } from './support/tree.ts';

// Everything here is refused with a precise error, and after it the whole product is what it was: the rows of both
// services as their own interfaces show them, the refs of the repository, and the states.

let folder: { path: string } & AsyncDisposable;
let place: Place;
let croft: Croft;
let userToken: string;
let token: string;
let work: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  const tree = join(folder.path, 'system');
  await git(folder.path, 'init', '-q', '-b', 'main', 'work');
  await git(folder.path, 'init', '-q', 'system');
  await sampleTree(tree);
  place = await placeFor(join(folder.path, 'data'), {
    STATESVC_VAULT_SYSTEM: tree,
    AUTHSVC_MAILER_AUTOCONFIRM: 'false',
  });
  croft = await startCroft(place);
  userToken = (await signUpByMail(croft, place, 'ada@example.test', 'correct horse battery')).access_token;
  const caller = forgeClient(croft, `Bearer ${userToken}`);
  token = ((await caller('POST /users/ada/tokens', { name: 't', scopes: ['all'] })).body as { sha1: string })
    .sha1;
  await caller('POST /user/repos', { name: 'sample' });
  work = join(folder.path, 'work');
  await writeFile(join(work, 'file'), 'one\n');
  await git(work, 'add', '.');
  await git(work, 'commit', '-q', '-m', 'one');
  await git(work, 'push', '-q', remote('sample'), 'main');
  await caller('POST /repos/ada/sample/issues', { title: 'An issue' });
  await state('save', 'kept');
});
afterAll(async () => {
  await croft?.stop('SIGTERM');
  await folder[Symbol.asyncDispose]();
});

const remote = (repository: string) =>
  `${croft.forge.replace('http://', `http://${token}:x@`)}/ada/${repository}.git`;

const state = (...words: string[]) => croftState(place, words);

/** What a person could see of the whole product. */
async function everything(): Promise<object> {
  const caller = forgeClient(croft, `token ${token}`);
  const [user, repositories, issues, pulls, tokens, refs, states] = await Promise.all([
    auth(croft, 'GET', '/user', undefined, userToken),
    caller('GET /user/repos'),
    caller('GET /repos/ada/sample/issues', { state: 'all' }),
    caller('GET /repos/ada/sample/pulls', { state: 'all' }),
    forgeClient(croft, `Bearer ${userToken}`)('GET /users/ada/tokens'),
    git(folder.path, 'ls-remote', remote('sample')),
    dumpStates(croft.socket),
  ]);
  return {
    user: user.body,
    repositories: repositories.body,
    issues: issues.body,
    pulls: pulls.body,
    tokens: tokens.body,
    refs,
    states,
  };
}

let before: object;
beforeEach(async () => {
  before = await everything();
});
const nothingChanged = async () => expect(await everything()).toEqual(before);

/** Sends exactly these bytes as the path: `fetch` would tidy up the dots. */
async function raw(
  base: string,
  method: string,
  path: string,
  body: string | Buffer = '',
  headers: Record<string, string> = {},
) {
  const { hostname, port } = new URL(base);
  return await new Promise<{
    status: number;
    allow: string | undefined;
    type: string | undefined;
    body: string;
  }>((resolve, reject) => {
    const sent = request(
      { hostname, port, method, path, headers: { ...headers, 'content-length': Buffer.byteLength(body) } },
      (response) => {
        text(response).then(
          (answer) =>
            resolve({
              status: response.statusCode ?? 0,
              allow: response.headers.allow,
              type: response.headers['content-type'],
              body: answer,
            }),
          reject,
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

function forged(header: object, claims: object, secret: string): string {
  const signed = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

describe('auth refuses', () => {
  it.each([
    ['malformed JSON', 'POST', '/signup', '{"email":', 400, 'bad_json'],
    ['no body', 'POST', '/signup', '', 400, 'bad_json'],
    ['a wrong type', 'POST', '/signup', '{"email":1,"password":[]}', 400, 'bad_json'],
    [
      'a bad address',
      'POST',
      '/signup',
      '{"email":"nobody","password":"long enough"}',
      400,
      'validation_failed',
    ],
    [
      'an oversized body',
      'POST',
      '/signup',
      JSON.stringify({ email: 'x'.repeat(2_000_000) }),
      413,
      'request_entity_too_large',
    ],
    ['an unknown grant', 'POST', '/token?grant_type=magic', '{}', 400, 'invalid_credentials'],
    [
      'an unknown refresh token',
      'POST',
      '/token?grant_type=refresh_token',
      '{"refresh_token":"nope"}',
      400,
      'refresh_token_not_found',
    ],
    [
      'a wrong code',
      'POST',
      '/verify',
      '{"type":"signup","email":"ada@example.test","token":"123456"}',
      403,
      'otp_expired',
    ],
  ])('%s', async (_name, method, path, body, status, code) => {
    const answer = await raw(croft.auth, method, path, body);
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([
      status,
      { error_code: code, code: status, msg: expect.any(String) },
    ]);
    await nothingChanged();
  });

  it('an unknown route and an unknown method, in JSON', async () => {
    expect(await raw(croft.auth, 'GET', '/nothing')).toMatchObject({
      status: 404,
      type: 'application/json',
    });
    expect(await raw(croft.auth, 'PATCH', '/signup', '{}')).toMatchObject({ status: 405, allow: 'POST' });
    await nothingChanged();
  });
});

const ourKey = () =>
  (JSON.parse(readFileSync(join(place.data, 'secrets.json'), 'utf8')) as { jwtSecret: string }).jwtSecret;
const seconds = () => Math.floor(Date.now() / 1000);
const claims = (exp: number) => ({
  sub: '00000000-0000-4000-8000-000000000001',
  role: 'service_role',
  email: 'eve@example.test',
  exp,
});

describe('tokens nobody issued are refused everywhere', () => {
  it.each([
    [
      'alg none',
      () =>
        `${forged({ alg: 'none' }, claims(seconds() + 60), 'x')
          .split('.')
          .slice(0, 2)
          .join('.')}.`,
    ],
    ['another key', () => forged({ alg: 'HS256', typ: 'JWT' }, claims(seconds() + 60), 'x'.repeat(32))],
    ['garbage', () => 'a.b.c'],
    [
      'expired, though signed with our key',
      () => forged({ alg: 'HS256', typ: 'JWT' }, claims(seconds() - 60), ourKey()),
    ],
  ])('%s', async (_name, make) => {
    const bearer = make();
    const atAuth = await auth(croft, 'GET', '/user', undefined, bearer);
    expect([atAuth.status, atAuth.body]).toMatchObject([403, { error_code: 'bad_jwt' }]);
    const atForge = await forgeClient(croft, `Bearer ${bearer}`)('POST /user/repos', { name: 'evil' });
    expect([atForge.status, atForge.body]).toMatchObject([401, { message: expect.any(String) }]);
    await nothingChanged();
  });
});

describe('forge refuses', () => {
  const json = { authorization: '', 'content-type': 'application/json' };
  const authorized = () => ({ ...json, authorization: `token ${token}` });

  it.each([
    ['malformed JSON', 'POST', '/api/v1/user/repos', '{"name":', 422],
    ['a wrong type', 'POST', '/api/v1/user/repos', '{"name":7}', 422],
    ['a missing name', 'POST', '/api/v1/user/repos', '{}', 422],
    [
      'an oversized body',
      'POST',
      '/api/v1/repos/ada/sample/issues',
      JSON.stringify({ title: 'x', body: 'x'.repeat(20_000_000) }),
      413,
    ],
    ['traversal in a repository name', 'POST', '/api/v1/user/repos', '{"name":"../../etc"}', 422],
    ['a reserved repository name', 'POST', '/api/v1/user/repos', '{"name":".."}', 422],
    ['a name that is taken', 'POST', '/api/v1/user/repos', '{"name":"SAMPLE"}', 409],
    ['traversal in the owner', 'GET', '/api/v1/repos/..%2f..%2fetc/sample', '', 404],
    ['traversal in the repository', 'GET', '/api/v1/repos/ada/..%2f..%2f..%2fetc%2fpasswd', '', 404],
    [
      'traversal in a git path',
      'GET',
      '/ada/..%2f..%2fsample.git/info/refs?service=git-upload-pack',
      '',
      404,
    ],
    [
      'an option as a branch',
      'POST',
      '/api/v1/repos/ada/sample/pulls',
      '{"title":"x","head":"--upload-pack=touch /tmp/x","base":"main"}',
      404,
    ],
    [
      'a control character in a branch',
      'POST',
      '/api/v1/repos/ada/sample/pulls',
      '{"title":"x","head":"a\\u0000b","base":"main"}',
      422,
    ],
    [
      'the same head and base',
      'POST',
      '/api/v1/repos/ada/sample/pulls',
      '{"title":"x","head":"main","base":"main"}',
      422,
    ],
    ['a missing issue', 'GET', '/api/v1/repos/ada/sample/issues/99999999999999999999', '', 404],
    ['an unknown route', 'GET', '/api/v1/nothing', '', 404],
  ])('%s', async (_name, method, path, body, status) => {
    const answer = await raw(croft.forge, method, path, body, authorized());
    expect(answer.status).toBe(status);
    if (path.startsWith('/api'))
      expect(JSON.parse(answer.body)).toMatchObject({ message: expect.any(String), url: expect.any(String) });
    await nothingChanged();
  });

  it('an unknown method, in JSON with Allow', async () => {
    const answer = await raw(croft.forge, 'DELETE', '/api/v1/user', '', authorized());
    expect([answer.status, answer.allow?.includes('GET')]).toEqual([405, true]);
    expect(JSON.parse(answer.body)).toMatchObject({ message: expect.any(String) });
  });

  it('unknown fields it ignores, without storing them', async () => {
    const answer = await raw(
      croft.forge,
      'PATCH',
      '/api/v1/repos/ada/sample/issues/1',
      '{"id":99,"number":7,"is_locked":true}',
      authorized(),
    );
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([201, { number: 1, is_locked: false }]);
  });

  it('a corrupt pack', async () => {
    const pkt = (line: string) => (line.length + 4).toString(16).padStart(4, '0') + line;
    const push = `${pkt(`${'0'.repeat(40)} ${'1'.repeat(40)} refs/heads/evil\0 report-status`)}0000PACK\0\0\0\x02\0\0\0\x01garbage`;
    const answer = await raw(croft.forge, 'POST', '/ada/sample.git/git-receive-pack', push, {
      authorization: `Basic ${Buffer.from(`${token}:x`).toString('base64')}`,
      'content-type': 'application/x-git-receive-pack-request',
    });
    // git's own report of the push: the pack was not taken in, and so no ref moved.
    expect(answer.status).toBe(200);
    expect(answer.body).toMatch(/unpack (?!ok).*ng refs\/heads\/evil/s);
    expect(answer.body).not.toContain('ok refs/heads/evil');
    await nothingChanged();
  });

  it('a branch whose name leaves its folder', async () => {
    await expect(git(work, 'push', '-q', remote('sample'), 'main:refs/heads/../../evil')).rejects.toThrow();
    const pull = { title: 'x', head: '../../evil', base: 'main' };
    const made = await forgeClient(croft, `token ${token}`)('POST /repos/ada/sample/pulls', pull);
    expect([made.status, made.body]).toMatchObject([404, { message: expect.any(String) }]);
    await nothingChanged();
  });

  it('a push to a repository that is not there', async () => {
    await expect(git(work, 'push', '-q', remote('missing'), 'main')).rejects.toThrow(/not found/i);
    await nothingChanged();
  });

  it('a ref name with a control character', async () => {
    const head = await git(work, 'rev-parse', 'HEAD');
    const pkt = (line: string) => (Buffer.byteLength(line) + 4).toString(16).padStart(4, '0') + line;
    const push = `${pkt(`${'0'.repeat(40)} ${head} refs/heads/a\x07b\0 report-status`)}0000`;
    const empty = Buffer.concat([
      Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1'),
      Buffer.from('029d08823bd8a8eab510ad6ac75c823cfd3ed31e', 'hex'),
    ]);
    const answer = await raw(
      croft.forge,
      'POST',
      '/ada/sample.git/git-receive-pack',
      Buffer.concat([Buffer.from(push), empty]),
      {
        authorization: `Basic ${Buffer.from(`${token}:x`).toString('base64')}`,
        'content-type': 'application/x-git-receive-pack-request',
      },
    );
    expect(answer.status).toBe(200);
    expect(answer.body).toMatch(/ng refs\/heads\/a\x07b /);
    expect(answer.body).not.toMatch(/\nok |000eok/);
    await nothingChanged();
  });
});

describe('state refuses', () => {
  it.each([
    ['a path as a name', '../../etc', 'name'],
    ['an option as a name', '--', 'name'],
    ['the automatic prefix', 'auto_mine', 'auto_'],
    ['a control character', 'a\u0007b', 'name'],
    ['a name too long', 'x'.repeat(101), '100'],
    ['a name that is taken', 'kept', 'kept'],
  ])('%s', async (_name, name, reason) => {
    const answer = await state('save', ...(name.startsWith('-') ? ['--', name] : [name]));
    expect(answer.code).not.toBe(0);
    expect(answer.errors).toContain(reason);
    await nothingChanged();
  });
});
