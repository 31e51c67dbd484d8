import { beforeAll, describe, expect, it } from 'vitest';
import { decidePermission } from '../src/rules/access/permission.ts';
import type { RepositoryWithAccess } from '../src/store/repositories/repositories.ts';
import { type Body, request, useForge } from './forge.ts';
import { type Cast, castOf, organization } from './repository-scene.ts';

const scene = useForge({ environment: { FORGE_REQUIRE_SIGNIN: 'false' } });
let cast: Cast;
beforeAll(async () => {
  cast = await castOf(scene)();
  await organization(scene, 'club', { owner: cast.ada, maker: cast.writer });
  await organization(scene, 'lodge', { owner: cast.ada, maker: cast.writer, visibility: 'limited' });
  await organization(scene, 'cellar', { owner: cast.ada, maker: cast.writer, visibility: 'private' });
  for (const owner of ['club', 'lodge', 'cellar']) {
    await cast.ada.call('POST', `/orgs/${owner}/repos`, {
      name: `${owner}-open`,
      description: 'Sharp tools',
    });
    await cast.ada.call('POST', `/orgs/${owner}/repos`, { name: `${owner}-shut`, private: true });
  }
  await cast.ada.call('POST', '/user/repos', { name: 'alpha', description: '100% _wild_' });
  await cast.ada.call('POST', '/user/repos', { name: 'beta', private: true, template: true });
  await cast.ada.call('PUT', '/repos/ada/beta/collaborators/reader', { permission: 'read' });
  await cast.ada.call('PUT', '/repos/ada/alpha/topics', { topics: ['garden', 'Tools'] });
  await cast.ada.call('PUT', '/repos/ada/beta/topics', { topics: ['garden'] });
  await cast.ada.call('PATCH', '/repos/club/club-open', { archived: true });
});
const names = (items: readonly Body[]) => items.map((item) => item['full_name']);
const found = async (query: string, who = cast.ada) => {
  const { body, status } = await who.call('GET', `/repos/search?${query}`);
  expect(status).toBe(200);
  return names(body['data'] as Body[]);
};

describe('a new repository', () => {
  it('starts with a licence and what git leaves alone', async () => {
    const { status, body } = await cast.ada.call('POST', '/user/repos', {
      name: 'started',
      description: 'Words.',
      auto_init: true,
      license: 'mit',
      gitignores: 'Node, Go',
      default_branch: 'trunk',
    });
    expect([status, body['default_branch']]).toEqual([201, 'trunk']);
    const { body: file } = await cast.ada.call('GET', '/repos/ada/started/contents/LICENSE');
    const text = Buffer.from(String(file['content']), 'base64').toString();
    expect(text).toContain(`Copyright (c) ${new Date().getUTCFullYear()} ada`);
    const { items } = await cast.ada.call('GET', '/repos/ada/started/contents');
    expect(items.map((item) => item['name'])).toEqual(['.gitignore', 'LICENSE', 'README.md']);
    await cast.ada.call('DELETE', '/repos/ada/started');
  });

  it.each([
    ['a licence nobody has', { license: 'WTF-9' }],
    ['a gitignore nobody has', { gitignores: 'Cobol' }],
  ])('with %s is refused', async (_what, more) => {
    const { status } = await cast.ada.call('POST', '/user/repos', { name: 'none', auto_init: true, ...more });
    expect(status).toBe(422);
    expect((await cast.ada.call('GET', '/repos/ada/none')).status).toBe(404);
  });

  it('of an organization is for those who may; they administrate it', async () => {
    const made = await cast.writer.call('POST', '/orgs/club/repos', { name: 'made', private: true });
    expect([made.status, made.body['permissions']]).toEqual([201, { admin: true, push: true, pull: true }]);
    expect((await cast.stranger.call('POST', '/orgs/club/repos', { name: 'no' })).status).toBe(403);
    expect((await cast.stranger.call('POST', '/orgs/cellar/repos', { name: 'no' })).status).toBe(404);
    expect((await cast.writer.call('POST', '/orgs/club/repos', { name: 'MADE' })).status).toBe(409);
    expect(await scene.sql.rows`select from :schema.repositories where name = 'no'`).toEqual([]);
    await cast.ada.call('DELETE', '/repos/club/made');
  });

  it('for somebody else is made by site administrators only', async () => {
    const made = await cast.root.call('POST', '/admin/users/reader/repos', { name: 'given' });
    expect([made.status, made.body['full_name']]).toEqual([201, 'reader/given']);
    expect((await cast.reader.call('GET', '/repos/reader/given')).body['permissions']).toMatchObject({
      admin: true,
    });
    expect(
      await scene.sql.rows`select from :schema.collaborators c join :schema.repositories r
      on r.id = c.repository_id where r.name = 'given'`,
    ).toEqual([]);
    expect((await cast.ada.call('POST', '/admin/users/reader/repos', { name: 'x' })).status).toBe(403);
    expect((await cast.root.call('POST', '/admin/users/nobody-here/repos', { name: 'x' })).status).toBe(404);
    await cast.reader.call('DELETE', '/repos/reader/given');
  });
});

it('lists show exactly what the rule of permissions lets everybody know of', async () => {
  const all = await scene.sql.rows<RepositoryWithAccess & { visibility: string }>`
    select r.*, o.visibility from :schema.repositories r join :schema.users o on o.id = r.owner_id`;
  for (const person of [...Object.values(cast), undefined]) {
    const account = person && (await person.call('GET', '/user')).body;
    const userId = account?.id ?? 0;
    const allowed: number[] = [];
    for (const row of all) {
      const access = await scene.sql.row<
        Record<'level' | 'code' | 'issues' | 'pulls', number | null> & {
          is_member: boolean;
        }
      >`select * from :schema.access_of(${userId}, ${row.id}, ${row.owner_id})`;
      const { level = null, code, issues, pulls } = access ?? {};
      const granted =
        level === null ? undefined : { level, code: code ?? 0, issues: issues ?? 0, pulls: pulls ?? 0 };
      const subject =
        account === undefined ? undefined : { userId, isAdmin: person === cast.root, publicOnly: false };
      const isMember = access?.is_member ?? false;
      const object = { private: row.private, ownerVisibility: row.visibility, granted, isMember };
      if (decidePermission(object, subject).level !== 'none') allowed.push(row.id);
    }
    const headers = person === undefined ? {} : { authorization: `Bearer ${person.token}` };
    const url = `${scene.address}/api/v1/repos/search?limit=50`;
    const { body, headers: answered } = await request(url, 'GET', undefined, headers);
    const shown = (body['data'] as Body[]).map(({ id }) => id).toSorted((a, b) => a - b);
    expect([person?.name, shown]).toEqual([person?.name, allowed.toSorted((a, b) => a - b)]);
    expect(answered.get('x-total-count')).toBe(String(allowed.length));
  }
});

describe('search', () => {
  it.each([
    ['q=LODGE', ['lodge/lodge-open', 'lodge/lodge-shut']],
    ['q=sharp', []],
    ['q=sharp&includeDesc=true', ['cellar/cellar-open', 'club/club-open', 'lodge/lodge-open']],
    ['q=%25&includeDesc=true', ['ada/alpha']],
    ['q=_', []],
    ['q=garden', ['ada/alpha', 'ada/beta']],
    ['q=gard&topic=true', []],
    ['q=Garden&topic=true&private=false', ['ada/alpha']],
    [
      'q=a%00b',
      [
        'ada/alpha',
        'ada/beta',
        'cellar/cellar-open',
        'cellar/cellar-shut',
        'club/club-open',
        'club/club-shut',
        'lodge/lodge-open',
        'lodge/lodge-shut',
      ],
    ],
    ['is_private=true&template=true', ['ada/beta']],
    ['archived=true', ['club/club-open']],
    ['mode=fork', []],
    ['mode=mirror', []],
    ['sort=created&order=desc&limit=2', ['ada/beta', 'ada/alpha']],
    ['sort=id&limit=2&page=2', ['lodge/lodge-open', 'lodge/lodge-shut']],
    ['q=open&page=9', []],
  ])('%s', async (query, expected) => {
    expect(await found(query)).toEqual(expected);
  });

  it('of an owner finds his, and what others gave him', async () => {
    const { id } = (await cast.reader.call('GET', '/user')).body;
    expect(await found(`uid=${id}`)).toEqual(['ada/beta']);
    expect(await found(`uid=${id}&exclusive=true`)).toEqual([]);
    expect(await found(`uid=${id}&mode=collaborative`)).toEqual(['ada/beta']);
    expect(await found(`uid=${id}&mode=source`)).toEqual(['ada/beta']);
    expect(await found(`uid=${id}&mode=source&exclusive=true`)).toEqual([]);
    expect(await found(`uid=${id}&mode=fork`)).toEqual([]);
    // Not by way of somebody else's rights.
    expect(await found(`uid=${id}`, cast.stranger)).toEqual([]);
    const lodge = (await scene.sql.row<{ id: number }>`select id from :schema.users where login = 'lodge'`)
      ?.id;
    expect((await found(`priority_owner_id=${lodge}`)).slice(0, 2)).toEqual([
      'lodge/lodge-open',
      'lodge/lodge-shut',
    ]);
  });

  it.each(['sort=nonsense', 'sort=constructor', 'order=sideways', 'mode=cloned'])(
    '%s is refused',
    async (query) => {
      expect((await cast.ada.call('GET', `/repos/search?${query}`)).status).toBe(422);
    },
  );

  it('pages with counts of what the caller may know of', async () => {
    const { headers, body } = await cast.stranger.call('GET', '/repos/search?q=open&limit=1&page=2');
    expect(names(body['data'] as Body[])).toEqual(['lodge/lodge-open']);
    expect(headers.get('x-total-count')).toBe('2');
    expect(headers.get('link')).toContain('rel="first"');
    expect(headers.get('link')).not.toContain('rel="next"');
  });
});

describe('lists of owners', () => {
  it('show each what he may see', async () => {
    expect(names((await cast.stranger.call('GET', '/users/ada/repos')).items)).toEqual(['ada/alpha']);
    expect(names((await cast.reader.call('GET', '/users/ADA/repos')).items)).toEqual([
      'ada/beta',
      'ada/alpha',
    ]);
    expect(names((await cast.stranger.call('GET', '/orgs/club/repos')).items)).toEqual(['club/club-open']);
    expect((await cast.stranger.call('GET', '/orgs/cellar/repos')).status).toBe(404);
    expect((await cast.stranger.call('GET', '/users/cellar/repos')).status).toBe(404);
    expect((await cast.stranger.call('GET', '/users/nobody-here/repos')).status).toBe(404);
    expect(names((await cast.reader.call('GET', '/user/repos')).items)).toEqual(['ada/beta']);
  });

  it('an id finds a repository, under the same conditions', async () => {
    const { id } = (await cast.ada.call('GET', '/repos/ada/beta')).body;
    expect((await cast.reader.call('GET', `/repositories/${id}`)).body['full_name']).toBe('ada/beta');
    const hidden = await cast.stranger.call('GET', `/repositories/${id}`);
    for (const other of ['0', '-1', '1e9', '99999999999999999999', 'x', `${id}%00`]) {
      const { status, text } = await cast.stranger.call('GET', `/repositories/${other}`);
      expect([other, status, text]).toEqual([other, 404, hidden.text]);
    }
  });
});

describe('topics', () => {
  it('come one by one and together', async () => {
    expect((await cast.ada.call('PUT', '/repos/ada/alpha/topics/Api')).status).toBe(204);
    expect((await cast.ada.call('GET', '/repos/ada/alpha/topics')).body['topics']).toEqual([
      'api',
      'garden',
      'tools',
    ]);
    expect((await cast.ada.call('DELETE', '/repos/ada/alpha/topics/api')).status).toBe(204);
    expect((await cast.ada.call('DELETE', '/repos/ada/alpha/topics/api')).status).toBe(404);
  });

  it('that are none are named', async () => {
    const { status, body } = await cast.ada.call('PUT', '/repos/ada/alpha/topics', { topics: ['ok', '-x'] });
    expect([status, body['invalidTopics']]).toEqual([422, ['-x']]);
    expect((await cast.ada.call('PUT', '/repos/ada/alpha/topics/a%2Fb')).status).toBe(422);
    expect((await cast.stranger.call('PUT', '/repos/ada/alpha/topics', { topics: [] })).status).toBe(403);
    expect((await cast.ada.call('GET', '/repos/ada/alpha/topics')).body['topics']).toEqual([
      'garden',
      'tools',
    ]);
  });

  it('are counted as far as the caller may know', async () => {
    const count = async (who: Cast['ada']) => {
      const { body, headers } = await who.call('GET', '/topics/search?q=GARD');
      return [body['topics'], headers.get('x-total-count')];
    };
    expect(await count(cast.ada)).toEqual([
      [expect.objectContaining({ topic_name: 'garden', repo_count: 2 })],
      '1',
    ]);
    expect(await count(cast.stranger)).toEqual([
      [expect.objectContaining({ topic_name: 'garden', repo_count: 1 })],
      '1',
    ]);
  });

  it('are counted beyond their last page, too', async () => {
    for (const [query, total] of [
      ['q=gard&page=9', '1'],
      ['q=gard&page=2&limit=1', '1'],
      ['q=none', '0'],
    ]) {
      const { status, body, headers } = await cast.ada.call('GET', `/topics/search?${query}`);
      expect([query, status, body['topics'], headers.get('x-total-count')]).toEqual([query, 200, [], total]);
    }
  });

  it('whose number would be the smallest there is are found', async () => {
    const hash = await scene.sql.row`select hashtext('geo7xig') as hash`;
    expect(hash).toEqual({ hash: -2_147_483_648 });
    expect((await cast.ada.call('PUT', '/repos/ada/alpha/topics/geo7xig')).status).toBe(204);
    const { status, body } = await cast.stranger.call('GET', '/topics/search?q=geo7xig');
    expect([status, body['topics']]).toEqual([
      200,
      [expect.objectContaining({ topic_name: 'geo7xig', id: expect.any(Number) })],
    ]);
    expect((await cast.ada.call('DELETE', '/repos/ada/alpha/topics/geo7xig')).status).toBe(204);
  });
});

it('licences and gitignore templates are listed with their texts', async () => {
  const { items } = await cast.ada.call('GET', '/licenses');
  expect(items.map((one) => one['key'])).toContain('ISC');
  expect((await cast.ada.call('GET', '/licenses/unlicense')).body['body']).toContain('public domain');
  expect((await cast.ada.call('GET', '/licenses/..')).status).toBe(404);
  expect((await cast.ada.call('GET', '/gitignore/templates')).items).toContain('Rust');
  expect((await cast.ada.call('GET', '/gitignore/templates/rust')).body['source']).toContain('target/');
  expect((await cast.ada.call('GET', '/gitignore/templates/constructor')).status).toBe(404);
});
