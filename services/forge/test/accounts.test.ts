import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { personWith, request, tokenFor, useForge } from './forge.ts';

/** A password grant like the auth service's: it knows one person, and counts how often it is asked. Nobody is banned. */
let auth: Server;
let asked: { email: string; password: string }[] = [];
/** Bearers of what ended sessions. */
let ended: (string | undefined)[] = [];
/** What it answers to that. */
let endingStatus = 204;
const eveId = randomUUID();
beforeAll(async () => {
  auth = createServer(async (question, answer) => {
    if (question.method === 'GET') return answer.end(JSON.stringify({ id: question.url?.split('/').at(-1) }));
    if (question.url === '/logout?scope=local') {
      ended.push(question.headers.authorization);
      answer.statusCode = endingStatus;
      return answer.end();
    }
    const given = JSON.parse(await text(question)) as { email: string; password: string };
    asked.push(given);
    const right = question.url === '/token?grant_type=password' && given.password === 'correct horse';
    answer.statusCode = right ? 200 : 400;
    const token = tokenFor('eve', { sub: eveId, email: given.email });
    answer.end(JSON.stringify(right ? { access_token: token } : { error_code: 'invalid_credentials' }));
  });
  auth.listen(0, '127.0.0.1');
  await once(auth, 'listening');
});
afterAll(() => {
  auth.closeAllConnections();
  auth.close();
});

const scene = useForge({ authUrl: () => `http://127.0.0.1:${(auth.address() as AddressInfo).port}` });
const basic = (name: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
});
const whoAmI = (headers: Record<string, string>) =>
  request(`${scene.address}/api/v1/user`, 'GET', undefined, headers);

describe('an account', () => {
  it('is made at the first call, named as the user chose', async () => {
    const ada = scene.person('ada', { user_metadata: { user_name: 'ada', full_name: 'Ada Lovelace' } });
    const { status, body } = await ada.call('GET', '/user');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      login: 'ada',
      username: 'ada',
      full_name: 'Ada Lovelace',
      email: 'ada@example.test',
      is_admin: false,
      active: true,
      visibility: 'public',
      html_url: `${scene.address}/ada`,
    });
    expect(body['created']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect((await ada.call('GET', '/user')).body.id).toBe(body.id);
  });

  it('takes the local part of the address when no name was chosen, and a number when that is taken', async () => {
    const claims = { email: 'grace@example.test', user_metadata: {} };
    expect((await scene.person('x', claims).call('GET', '/user')).body.login).toBe('grace');
    expect((await scene.person('x', claims).call('GET', '/user')).body.login).toBe('grace-2');
  });

  it('never gets a reserved or malformed name', async () => {
    const named = async (user_name: string) =>
      (await scene.person('x', { email: '@', user_metadata: { user_name } }).call('GET', '/user')).body.login;
    expect(await named('api')).toBe('api-2');
    expect(await named('../../etc')).toBe('etc');
    expect(await named('a\u0000b\r\nc')).toBe('ab-c');
    expect(await named('repo.git')).toBe('repo.git-2');
  });

  it('follows a new address and the admin role, and keeps its name', async () => {
    const sub = randomUUID();
    const first = await scene.person('linus', { sub }).call('GET', '/user');
    // Times in tokens are whole seconds: one of the second in which the auth service was asked tells nothing newer.
    const iat = Math.floor(Date.now() / 1000) + 1;
    const changed = { sub, email: 'new@example.test', role: 'service_role', iat };
    const after = await scene.person('other', changed).call('GET', '/user');
    expect(after.body).toMatchObject({
      id: first.body.id,
      login: 'linus',
      email: 'new@example.test',
      is_admin: true,
    });
  });

  it('keeps its newest address and full name, whatever an older token says', async () => {
    const sub = randomUUID();
    const now = Math.floor(Date.now() / 1000) + 10;
    const said = (iat: number, email: string) =>
      scene.person('grete', { sub, iat, email, user_metadata: { user_name: 'grete', full_name: email } });
    const older = said(now - 600, 'old@example.test');
    const same = said(now - 300, 'old@example.test');
    const newer = said(now, 'new@example.test');
    const shown = async (who: typeof older) => {
      const { email, full_name: name } = (await who.call('GET', '/user')).body;
      const row = await scene.sql.row`select email, full_name from :schema.users where login = 'grete'`;
      expect(row).toEqual({ email, full_name: name });
      return [email, name];
    };
    const [old, latest] = [
      ['old@example.test', 'old@example.test'],
      ['new@example.test', 'new@example.test'],
    ];
    expect(await shown(older)).toEqual(old);
    expect(await shown(same)).toEqual(old);
    // Between the two, of which the later one said what the account has.
    expect(await shown(said(now - 400, 'between@example.test'))).toEqual(old);
    expect(await shown(newer)).toEqual(latest);
    for (const token of [older, same, newer]) expect(await shown(token)).toEqual(latest);
  });

  it('has a picture, which says nothing of whether there is an account', async () => {
    const { avatar_url: url } = (await scene.person('ada').call('GET', '/user')).body as unknown as {
      avatar_url: string;
    };
    const picture = await fetch(url);
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    expect(picture.headers.get('content-security-policy')).toBe("default-src 'none'");
    expect(await picture.text()).toMatch(/^<svg .*<\/svg>$/);
    for (const id of ['123456789', '-1']) expect((await fetch(url.replace(/[^/]+$/, id))).status).toBe(200);
    for (const id of ['', 'x', '1e3', '9'.repeat(16), '1/2'])
      expect((await fetch(url.replace(/[^/]+$/, id))).status).toBe(404);
  });

  it('is shown to others without what is private, and 404 when there is none', async () => {
    const { body } = await scene.person('viewer').call('GET', '/users/ADA');
    expect(body).toMatchObject({ login: 'ada', active: false, is_admin: false });
    const missing = await scene.person('viewer').call('GET', '/users/nobody-here');
    expect(missing.status).toBe(404);
    expect(missing.body).toEqual({
      message: 'user does not exist [uid: 0, name: nobody-here]',
      url: `${scene.address}/api/v1/openapi.json`,
    });
  });
});

describe('credentials', () => {
  it('are needed for everything but the version', async () => {
    const version = await request(`${scene.address}/api/v1/version`, 'GET');
    expect(version.body).toEqual({ version: '1.27.0+croft.0.1.0' });
    const { status, body } = await whoAmI({});
    expect(status).toBe(401);
    expect(body.message).toBe('token is required');
  });

  it('limits and sizes are at /settings/api', async () => {
    expect((await scene.person('ada-2').call('GET', '/settings/api')).body).toMatchObject({
      max_response_items: 50,
      default_paging_num: 30,
    });
  });

  it.each(['token', 'Token', 'bearer', 'BEARER'])(
    'an access token is accepted after `%s`',
    async (scheme) => {
      expect((await whoAmI({ authorization: `${scheme} ${tokenFor('schemes')}` })).status).toBe(200);
    },
  );

  it.each(['Negotiate abc', 'Bearer', 'Basic !!!', `Bearer ${'0'.repeat(40)}`, 'Bearer a.b.c', 'Basic Og=='])(
    'of no use are refused: %s',
    async (authorization) => {
      const { status, body } = await whoAmI({ authorization });
      expect(status).toBe(401);
      expect(body.message).toBe('invalid username, password or token');
    },
  );

  it('a token that names no user is refused', async () => {
    expect((await scene.person('x', { sub: '' }).call('GET', '/user')).body.message).toBe(
      'the access token names no user',
    );
  });
});

describe('a password', () => {
  it('is checked by the auth service, once a minute when it is right', async () => {
    asked = [];
    expect((await whoAmI(basic('eve@example.test', 'correct horse'))).body.login).toBe('eve');
    expect((await whoAmI(basic('eve', 'correct horse'))).body.login).toBe('eve');
    expect(asked).toEqual([{ email: 'eve@example.test', password: 'correct horse' }]);
  });

  it('opens a session there that ends at once, and is right also where that fails', async () => {
    ended = [];
    endingStatus = 503;
    expect((await whoAmI(basic('EVE@example.test', 'correct horse'))).body.login).toBe('eve');
    endingStatus = 204;
    expect(ended).toEqual([expect.stringMatching(/^Bearer ey/)]);
  });

  it('is asked about every time when it is wrong, for known and unknown names alike', async () => {
    [asked, ended] = [[], []];
    for (const name of ['eve', 'eve', 'nobody-here', 'nobody@example.test']) {
      const { status, body } = await whoAmI(basic(name, 'wrong'));
      expect(status).toBe(401);
      expect(body.message).toBe('invalid username, password or token');
    }
    expect(asked).toHaveLength(4);
    expect(ended).toEqual([]);
  });

  it('cannot be checked while the auth service is away: 503, and no account', async () => {
    auth.close();
    auth.closeAllConnections();
    const { status } = await whoAmI(basic('mallory@example.test', 'correct horse'));
    expect(status).toBe(503);
    expect((await scene.person('viewer').call('GET', '/users/mallory')).status).toBe(404);
  });
});

describe('a personal access token', () => {
  const kept = () => scene.sql.rows`select id, name, scopes from :schema.access_tokens order by id`;

  it('is shown once, listed without its secret, and accepted in every spelling', async () => {
    const lin = scene.person('lin');
    await lin.call('GET', '/user');
    const made = await lin.call('POST', '/users/lin/tokens', {
      name: 'ci',
      scopes: ['read:repository', 'write:user'],
    });
    expect(made.status).toBe(201);
    const { sha1 } = made.body;
    expect(sha1).toMatch(/^[0-9a-f]{40}$/);
    expect(made.body).toMatchObject({
      name: 'ci',
      token_last_eight: sha1.slice(-8),
      scopes: ['read:repository', 'write:user'],
    });
    for (const headers of [
      { authorization: `token ${sha1}` },
      { authorization: `Bearer ${sha1}` },
      basic(sha1, ''),
      basic(sha1, 'x-oauth-basic'),
      basic('whoever', sha1),
    ]) {
      expect((await whoAmI(headers)).body.login).toBe('lin');
    }
    const list = await lin.call('GET', '/users/lin/tokens');
    expect(list.items).toHaveLength(1);
    expect(list.items[0]).toMatchObject({ name: 'ci', sha1: '', token_last_eight: sha1.slice(-8) });
    expect(list.headers.get('x-total-count')).toBe('1');
    expect(list.text).not.toContain(sha1);
  });

  it('is kept as a hash only', async () => {
    const max = scene.person('max');
    await max.call('GET', '/user');
    const { sha1 } = (await max.call('POST', '/users/max/tokens', { name: 't' })).body;
    const rows = await scene.sql.rows<{ row: string }>`select t::text as row from :schema.access_tokens t`;
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.map(({ row }) => row).join('\n')).not.toContain(sha1);
  });

  it('is of no use once it was deleted, by its name or its id', async () => {
    const mia = scene.person('mia');
    await mia.call('GET', '/user');
    for (const by of ['name', 'id'] as const) {
      const { body } = await mia.call('POST', '/users/mia/tokens', { name: `gone by ${by}` });
      const path = `/users/mia/tokens/${encodeURIComponent(by === 'name' ? `gone by ${by}` : String(body.id))}`;
      expect((await mia.call('DELETE', path)).status).toBe(204);
      expect((await whoAmI({ authorization: `token ${body.sha1}` })).status).toBe(401);
      expect((await mia.call('DELETE', path)).status).toBe(404);
    }
  });

  it.each([
    ['a used name', { name: 'twice' }, 400, 'access token name has been used already'],
    [
      'an unknown scope',
      { name: 'new', scopes: ['write:everything'] },
      400,
      'invalid access token scope provided: write:everything',
    ],
    ['no name', {}, 422, '[Name]: Required'],
    ['a name of another type', { name: 1 }, 422, '[Name]: Invalid input: expected string, received number'],
  ])('is refused with %s', async (_what, body, status, message) => {
    const kim = scene.person('kim', { sub: '11111111-1111-4111-8111-111111111111' });
    await kim.call('POST', '/users/kim/tokens', { name: 'twice' });
    const before = (await kim.call('GET', '/users/kim/tokens')).items.length;
    const refused = await kim.call('POST', '/users/kim/tokens', body);
    expect(refused.status).toBe(status);
    expect(refused.body.message).toBe(message);
    expect((await kim.call('GET', '/users/kim/tokens')).items).toHaveLength(before);
  });

  it('belongs to its owner: others can neither make, list nor delete one', async () => {
    await scene.person('owner').call('GET', '/user');
    const mallory = scene.person('mallory-2');
    expect((await mallory.call('POST', '/users/owner/tokens', { name: 't' })).status).toBe(403);
    expect((await mallory.call('GET', '/users/owner/tokens')).status).toBe(403);
    expect((await mallory.call('DELETE', '/users/owner/tokens/1')).status).toBe(403);
  });

  it('does what its scopes say and no more', async () => {
    const nia = scene.person('nia');
    await nia.call('GET', '/user');
    const { sha1 } = (
      await nia.call('POST', '/users/nia/tokens', { name: 'reader', scopes: ['read:repository'] })
    ).body;
    const limited = personWith('nia', sha1, () => scene.address);
    expect((await limited.call('GET', '/user/repos')).status).toBe(200);
    const refused = await limited.call('POST', '/user/repos', { name: 'r' });
    expect(refused.status).toBe(403);
    expect(refused.body.message).toContain('required=[write:repository], token scope=read:repository');
    expect((await limited.call('GET', '/user')).status).toBe(403);
    expect((await nia.call('GET', '/user/repos')).items).toEqual([]);
  });

  it('for people tells nothing of repositories, by whichever list', async () => {
    const ned = scene.person('ned');
    await ned.call('POST', '/user/repos', { name: 'hush', private: true });
    const { body } = await ned.call('POST', '/users/ned/tokens', { name: 'people', scopes: ['write:user'] });
    const limited = personWith('ned', body.sha1, () => scene.address);
    expect((await limited.call('GET', '/users/ned')).status).toBe(200);
    for (const path of ['/user/repos', '/users/ned/repos', '/users/ned/starred', '/repos/search']) {
      const refused = await limited.call('GET', path);
      expect([path, refused.status, refused.text]).toEqual([path, 403, expect.not.stringContaining('hush')]);
    }
  });

  it.each([[[]], [['all']], [['write:user']], [['all', 'public-only']]])(
    'with scopes %j neither makes, lists nor revokes any, an administrator’s neither: 401',
    async (scopes) => {
      const eve = scene.person(['eve', ...scopes, 'too'].join('-').replace(':', '-'));
      await eve.call('GET', '/user');
      const at = `/users/${eve.name}/tokens`;
      const { sha1 } = (await eve.call('POST', at, { name: 'leaked', scopes })).body;
      const before = await kept();
      for (const isAdmin of [false, true]) {
        await scene.sql.run`update :schema.users set is_admin = ${isAdmin} where login = ${eve.name}`;
        for (const headers of [{ authorization: `token ${sha1}` }, basic(eve.name, sha1)]) {
          for (const owner of isAdmin ? [eve.name, 'lin'] : [eve.name]) {
            const call = (method: string, more = '', body?: object) =>
              request(`${scene.address}/api/v1/users/${owner}/tokens${more}`, method, body, headers);
            for (const refused of [
              await call('POST', '', { name: 'sister', scopes: ['read:user'] }),
              await call('GET'),
              await call('DELETE', '/leaked'),
              await call('DELETE', '/ci'),
            ])
              expect([refused.status, refused.body.message]).toEqual([401, 'auth required']);
          }
        }
      }
      expect(await kept()).toEqual(before);
    },
  );
});
