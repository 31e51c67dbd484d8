import type { Log } from '@croft/runtime';
import { silentLog } from '@croft/runtime';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../src/endpoints/index.ts';
import { SCOPE_AREAS } from '../src/rules/access/token-scope.ts';
import { type Person, personWith, type Reply, request, useForge } from './forge.ts';

const lines: string[] = [];
const log = { ...silentLog, warn: (_: unknown, text?: string) => void lines.push(text ?? '') } as Log;
const scene = useForge({ environment: { FORGE_QUERY_TOKENS: 'true' }, log });
let boss: Person;
let ada: Person;

beforeAll(async () => {
  boss = scene.person('boss', { role: 'service_role' });
  ada = scene.person('ada');
  for (const person of [boss, ada]) await person.call('GET', '/user');
  await boss.call('POST', '/orgs', { username: 'acme' });
});
beforeEach(() => {
  lines.length = 0;
});

const as = (person: Person, login: string, method = 'GET', path = '/user', body?: unknown): Promise<Reply> =>
  person.call(method, path, body, { sudo: login });
const tokenOf = async (person: Person, name: string, scopes: string[]) => {
  const { body } = await person.call('POST', `/users/${person.name}/tokens`, { name, scopes });
  return personWith(person.name, body.sha1, () => scene.address);
};

describe('Sudo', () => {
  it('makes a site administrator somebody else, by header and by query', async () => {
    expect((await as(boss, 'ADA')).body).toMatchObject({ login: 'ada', is_admin: false });
    expect((await boss.call('GET', '/user?sudo=ada')).body.login).toBe('ada');
    const made = await as(boss, 'ada', 'POST', '/user/repos', { name: 'made-for-ada' });
    expect([made.status, made.body['full_name']]).toEqual([201, 'ada/made-for-ada']);
    // What ada may not do, her administrator may not do either while being her.
    expect((await as(boss, 'ada', 'GET', '/admin/users')).status).toBe(403);
  });

  it('is refused to everybody else, even to become oneself, and nothing is done', async () => {
    for (const login of ['boss', 'ada', 'nobody-here']) {
      const answer = await as(ada, login, 'POST', '/user/repos', { name: 'stolen' });
      expect([answer.status, answer.body.message]).toEqual([403, 'Only administrators allowed to sudo.']);
    }
    const count = await scene.sql.row`select from :schema.repositories where name = 'stolen'`;
    expect(count).toBeUndefined();
  });

  it('finds only people', async () => {
    for (const login of ['nobody-here', 'acme', '..', 'a%00b']) {
      expect((await as(boss, login)).status).toBe(404);
    }
    expect((await boss.call('GET', '/user?sudo=a%00b')).status).toBe(404);
  });

  it('takes a token made for administration, whose limits stay', async () => {
    const reader = await tokenOf(boss, 'reader', ['read:user']);
    const refused = await as(reader, 'ada');
    expect([refused.status, refused.body.message]).toEqual([
      403,
      'token does not have at least one of required scope(s), required=[read:admin], token scope=read:user',
    ]);
    const admin = await tokenOf(boss, 'admin', ['write:admin', 'read:user']);
    expect((await as(admin, 'ada')).body.login).toBe('ada');
    expect((await as(admin, 'ada', 'POST', '/user/repos', { name: 'x' })).status).toBe(403);
    const looking = await tokenOf(boss, 'looking', ['read:admin', 'write:repository']);
    expect((await as(looking, 'ada', 'POST', '/user/repos', { name: 'x' })).status).toBe(403);
    expect((await ada.call('GET', '/repos/ada/x')).status).toBe(404);
  });

  it('needs credentials, and means nothing to git', async () => {
    const answer = await request(`${scene.address}/api/v1/user`, 'GET', undefined, { sudo: 'ada' });
    expect(answer.status).toBe(403);
    await ada.call('POST', '/user/repos', { name: 'hers', private: true, auto_init: true });
    const git = `${scene.address}/ada/hers.git/info/refs?service=git-receive-pack`;
    const stranger = scene.person('stranger');
    const refused = await request(`${git}&sudo=ada`, 'GET', undefined, {
      authorization: `Bearer ${stranger.token}`,
      sudo: 'ada',
    });
    expect(refused.status).toBe(404);
  });
});

describe('a token in an address', () => {
  it('is taken where the settings allow it, with a warning, and the header wins', async () => {
    const { token } = await tokenOf(ada, 'query', ['read:user']);
    const get = (path: string, headers = {}) =>
      request(`${scene.address}/api/v1${path}`, 'GET', undefined, headers);
    for (const name of ['token', 'access_token']) {
      lines.length = 0;
      expect((await get(`/user?${name}=${token}`)).body.login).toBe('ada');
      expect(lines).toHaveLength(1);
    }
    expect((await get(`/user?token=${ada.token}`)).body.login).toBe('ada');
    expect((await get(`/user?token=${'0'.repeat(40)}`)).status).toBe(401);
    expect((await get(`/user?token=${token}`, { authorization: 'token wrong' })).status).toBe(401);
    expect((await get(`/user?token=${token}`, { authorization: `Bearer ${boss.token}` })).body.login).toBe(
      'boss',
    );
    expect((await get('/user?token=')).status).toBe(401);
  });

  it('is of no use to git', async () => {
    const { token } = await tokenOf(ada, 'query-git', ['all']);
    const answer = await request(
      `${scene.address}/ada/hers.git/info/refs?service=git-upload-pack&token=${token}`,
      'GET',
    );
    expect(answer.status).toBe(401);
  });
});

describe('token scopes', () => {
  it.each(SCOPE_AREAS)('%s: every endpoint refuses a token made for everything else', async (area) => {
    const others = SCOPE_AREAS.filter((one) => one !== area).map((one) => `write:${one}`);
    const limited = await tokenOf(boss, `not-${area}`, others);
    const lines = ENDPOINTS.filter(
      ([, , endpoint]) => endpoint.area === area && endpoint.access !== 'public',
    );
    for (const [method, path] of lines) {
      const url = path
        .replace(/\(\^[^/]*?\$?\)(?=\.|\/|$)/g, '')
        .replace(/:\w+/g, '1')
        .replaceAll('*', 'x');
      const { status, body } = await limited.call(method, url, method === 'GET' ? undefined : {});
      expect([method, path, status, body.message]).toEqual([
        method,
        path,
        403,
        expect.stringContaining(`${method === 'GET' ? 'read' : 'write'}:${area}]`),
      ]);
    }
  });

  it('reading is not writing', async () => {
    const reader = await tokenOf(
      boss,
      'read-all',
      SCOPE_AREAS.map((area) => `read:${area}`),
    );
    for (const [method, path, endpoint] of ENDPOINTS) {
      if (method === 'GET' || endpoint.access === 'public') continue;
      const url = path
        .replace(/\(\^[^/]*?\$?\)(?=\.|\/|$)/g, '')
        .replace(/:\w+/g, '1')
        .replaceAll('*', 'x');
      const { status } = await reader.call(method, url, {});
      expect([method, path, status]).toEqual([method, path, 403]);
    }
  });
});
