import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';

const scene = useForge();
let owner: Person;
let writer: Person;
let reader: Person;
let stranger: Person;

const snapshot = () =>
  scene.sql.row<{ all: string }>`
    select md5(string_agg(t, '|' order by t)) as all from (
      select 'team' || t::text as t from :schema.teams t union all select 'm' || m::text from :schema.team_members m
      union all select 'r' || r::text from :schema.team_repositories r) t`;

/** A refusal after which everything is as it was. */
async function refused(status: number, person: Person, method: string, path: string, body?: unknown) {
  const before = await snapshot();
  const answer = await person.call(method, path, body);
  expect([method, path, answer.status, answer.text]).toEqual([method, path, status, answer.text]);
  expect(await snapshot()).toEqual(before);
  return answer;
}

async function team(org: string, body: object, members: readonly Person[] = []): Promise<number> {
  const made = await owner.call('POST', `/orgs/${org}/teams`, body);
  expect([made.status, made.text]).toEqual([201, made.text]);
  for (const { name } of members) {
    expect((await owner.call('PUT', `/teams/${made.body.id}/members/${name}`)).status).toBe(204);
  }
  return made.body.id;
}

/** A repository of an organization, as far as rows go: nothing here touches git. */
async function repository(org: string, name: string, isPrivate = true): Promise<void> {
  await scene.sql.run`
    insert into :schema.repositories (owner_id, name, private, default_branch, state, created_at, updated_at)
    select id, ${name}, ${isPrivate}, 'main', 'ready', now(), now() from :schema.users where login = ${org}`;
}

beforeAll(async () => {
  owner = scene.person('owner');
  writer = scene.person('writer');
  reader = scene.person('reader');
  stranger = scene.person('stranger');
  for (const person of [owner, writer, reader, stranger]) await person.call('GET', '/user');
  for (const org of ['acme', 'other']) await owner.call('POST', '/orgs', { username: org });
});

describe('a team', () => {
  it('is made by owners, with units or a map of them, and shown as it was asked for', async () => {
    const { status, body } = await owner.call('POST', '/orgs/acme/teams', {
      name: 'Build-Crew',
      description: 'Builds',
      permission: 'write',
      units: ['repo.code', 'repo.issues', 'repo.wiki', 'repo.releases'],
      can_create_org_repo: true,
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name: 'Build-Crew',
      description: 'Builds',
      permission: 'write',
      units: ['repo.code', 'repo.issues'],
      units_map: { 'repo.code': 'write', 'repo.issues': 'write' },
      includes_all_repositories: false,
      can_create_org_repo: true,
      organization: { name: 'acme' },
    });
    expect((await owner.call('GET', `/teams/${body.id}`)).body).toEqual(body);
    const mapped = await owner.call('POST', '/orgs/acme/teams', {
      name: 'mapped',
      units_map: { 'repo.pulls': 'write', 'repo.code': 'read' },
      includes_all_repositories: true,
    });
    expect(mapped.body).toMatchObject({
      permission: 'read',
      units_map: { 'repo.code': 'read', 'repo.pulls': 'write' },
      includes_all_repositories: true,
    });
  });

  it.each([
    ['a name that is taken', { name: 'owners', permission: 'admin' }],
    ['a malformed name', { name: 'a b', permission: 'admin' }],
    ['a long name', { name: 'a'.repeat(31), permission: 'admin' }],
    ['a reserved name', { name: 'search', permission: 'admin' }],
    ['no name', { permission: 'admin' }],
    ['no units', { name: 'ok', permission: 'write' }],
    ['the permission of owners', { name: 'ok', permission: 'owner', units: ['repo.code'] }],
    ['an owner of a unit', { name: 'ok', units_map: { 'repo.code': 'owner' } }],
    ['a permission that is none', { name: 'ok', permission: 'root', units: ['repo.code'] }],
    ['units of another type', { name: 'ok', permission: 'write', units: 'repo.code' }],
    ['a map of another type', { name: 'ok', permission: 'write', units_map: { 'repo.code': 1 } }],
    ['a long description', { name: 'ok', permission: 'admin', description: 'x'.repeat(256) }],
  ])('is not made with %s', async (_what, body) => {
    await refused(422, owner, 'POST', '/orgs/acme/teams', body);
  });

  it('is made, changed and removed by owners only', async () => {
    const id = await team('acme', { name: 'locked', permission: 'admin' }, [writer]);
    for (const [person, status] of [
      [writer, 403],
      [stranger, 404],
    ] as const) {
      await refused(status, person, 'PATCH', `/teams/${id}`, { permission: 'admin', name: 'mine' });
      await refused(status, person, 'DELETE', `/teams/${id}`);
      await refused(status, person, 'PUT', `/teams/${id}/members/stranger`);
    }
    await refused(403, stranger, 'POST', '/orgs/acme/teams', { name: 'mine', permission: 'admin' });
    await refused(403, writer, 'POST', '/orgs/acme/teams', { name: 'mine', permission: 'admin' });
  });

  it('is changed in what is named', async () => {
    const id = await team('acme', { name: 'changing', permission: 'write', units: ['repo.code'] });
    const change = (body: object) => owner.call('PATCH', `/teams/${id}`, body);
    expect((await change({ description: 'new' })).body).toMatchObject({
      description: 'new',
      permission: 'write',
      units: ['repo.code'],
    });
    expect((await change({ permission: 'read' })).body).toMatchObject({ units_map: { 'repo.code': 'read' } });
    expect((await change({ units: ['repo.issues'] })).body).toMatchObject({
      units_map: { 'repo.issues': 'read' },
    });
    expect((await change({ permission: 'admin', name: 'changed' })).body).toMatchObject({
      name: 'changed',
      permission: 'admin',
      units: ['repo.code', 'repo.issues', 'repo.pulls'],
    });
    await refused(422, owner, 'PATCH', `/teams/${id}`, { name: 'Owners' });
    await refused(422, owner, 'PATCH', `/teams/${id}`, { permission: 'owner' });
    await refused(404, owner, 'PATCH', '/teams/999999', { name: 'x' });
    await refused(404, owner, 'PATCH', '/teams/x', { name: 'x' });
    await refused(404, owner, 'GET', '/teams/99999999999999999999');
  });

  it('of the owners keeps its name and what it gives', async () => {
    const owners = (await owner.call('GET', '/orgs/acme/teams')).items[0];
    const path = `/teams/${owners?.id}`;
    await refused(422, owner, 'PATCH', path, { name: 'Bosses' });
    await refused(422, owner, 'PATCH', path, { permission: 'read', units: ['repo.code'] });
    await refused(422, owner, 'PATCH', path, { includes_all_repositories: false });
    const same = await owner.call('PATCH', path, { ...owners, organization: undefined, description: 'us' });
    expect(same.body).toMatchObject({ name: 'Owners', permission: 'owner', description: 'us' });
  });

  it('is found by a part of its name or description, by members', async () => {
    await team('acme', { name: 'needle', description: 'hay%stack', permission: 'admin' }, [reader]);
    const search = async (query: string, person = reader) => {
      const { status, body } = await person.call('GET', `/orgs/acme/teams/search?${query}`);
      return status === 200 ? (body['data'] as { name: string }[]).map(({ name }) => name) : status;
    };
    expect(await search('q=NEED')).toEqual(['needle']);
    expect(await search('q=%25')).toEqual(['needle']);
    expect(await search('q=%25&include_desc=false')).toEqual([]);
    expect(await search('q=needle', stranger)).toBe(403);
    expect((await reader.call('GET', '/user/teams')).items).toMatchObject([{ name: 'needle' }]);
    expect((await stranger.call('GET', '/user/teams')).items).toEqual([]);
  });
});

describe('members of a team', () => {
  it('are seen by each other and by owners; other members get 403, strangers 404', async () => {
    const id = await team('acme', { name: 'seen', permission: 'admin' }, [writer]);
    await team('acme', { name: 'elsewhere', permission: 'admin' }, [reader]);
    for (const person of [owner, writer]) {
      expect((await person.call('GET', `/teams/${id}/members`)).items).toMatchObject([{ login: 'writer' }]);
      expect((await person.call('GET', `/teams/${id}/members/WRITER`)).body.login).toBe('writer');
    }
    expect((await owner.call('GET', `/teams/${id}/members/reader`)).status).toBe(404);
    expect((await reader.call('GET', `/teams/${id}/members`)).status).toBe(403);
    expect((await stranger.call('GET', `/teams/${id}/members`)).status).toBe(404);
  });

  it('are people, and come once', async () => {
    const id = await team('acme', { name: 'once', permission: 'admin' }, [writer, writer]);
    expect((await owner.call('GET', `/teams/${id}/members`)).headers.get('x-total-count')).toBe('1');
    await refused(404, owner, 'PUT', `/teams/${id}/members/other`);
    await refused(404, owner, 'PUT', `/teams/${id}/members/nobody-here`);
    await refused(404, owner, 'DELETE', `/teams/${id}/members/reader`);
  });
});

describe('repositories of a team', () => {
  let id: number;
  beforeAll(async () => {
    await repository('acme', 'engine');
    await repository('acme', 'door', false);
    await repository('other', 'foreign');
    id = await team('acme', { name: 'engine-room', permission: 'write', units: ['repo.issues'] }, [writer]);
  });

  it('are given by owners, and what they show follows the units', async () => {
    expect((await writer.call('GET', '/repos/acme/engine')).status).toBe(404);
    await refused(404, writer, 'PUT', `/teams/${id}/repos/acme/engine`);
    await refused(403, writer, 'PUT', `/teams/${id}/repos/acme/door`);
    await refused(404, owner, 'PUT', `/teams/${id}/repos/other/foreign`);
    await refused(404, owner, 'PUT', `/teams/${id}/repos/acme/nothing`);
    expect((await owner.call('PUT', `/teams/${id}/repos/acme/engine`)).status).toBe(204);
    expect((await owner.call('PUT', `/teams/${id}/repos/ACME/ENGINE`)).status).toBe(204);
    const listed = await writer.call('GET', `/teams/${id}/repos`);
    expect(listed.items).toMatchObject([
      { name: 'engine', permissions: { admin: false, push: false, pull: true } },
    ]);
    expect(listed.headers.get('x-total-count')).toBe('1');
    expect((await writer.call('GET', `/teams/${id}/repos/acme/engine`)).body).toMatchObject({
      name: 'engine',
    });
    expect((await writer.call('GET', `/teams/${id}/repos/acme/door`)).status).toBe(404);
    // The team writes issues; nothing else of the repository is its members' to read.
    expect((await writer.call('GET', '/repos/acme/engine')).status).toBe(200);
    expect((await writer.call('GET', '/repos/acme/engine/branches')).status).toBe(404);
    expect((await writer.call('DELETE', '/repos/acme/engine')).status).toBe(403);
    expect((await stranger.call('GET', '/repos/acme/engine')).status).toBe(404);
  });

  it('a member cannot widen what his team gives', async () => {
    await refused(403, writer, 'PATCH', `/teams/${id}`, { units: ['repo.code', 'repo.issues'] });
    await refused(403, writer, 'PATCH', `/teams/${id}`, { includes_all_repositories: true });
    await refused(403, writer, 'DELETE', `/teams/${id}/repos/acme/engine`);
  });

  it('an administrator of a repository gives it to his teams, not to others', async () => {
    await repository('acme', 'lent');
    const admins = await team('acme', { name: 'admins', permission: 'admin' }, [reader]);
    const readers = await team('acme', { name: 'readers', permission: 'read', units: ['repo.code'] }, [
      reader,
    ]);
    const foreign = await team('acme', { name: 'not-his', permission: 'admin' }, [writer]);
    await owner.call('PUT', `/teams/${admins}/repos/acme/lent`);
    expect((await reader.call('PUT', `/teams/${readers}/repos/acme/lent`)).status).toBe(204);
    await refused(403, reader, 'PUT', `/teams/${foreign}/repos/acme/lent`);
    expect((await reader.call('DELETE', `/teams/${readers}/repos/acme/lent`)).status).toBe(204);
    await refused(404, reader, 'DELETE', `/teams/${readers}/repos/acme/lent`);
  });

  it('are all of them for a team that includes all', async () => {
    const all = await team(
      'acme',
      { name: 'all-of-them', permission: 'admin', includes_all_repositories: true },
      [writer],
    );
    const listed = await writer.call('GET', `/teams/${all}/repos`);
    expect(listed.items.map((one) => one['name'])).toEqual(expect.arrayContaining(['engine', 'door']));
    expect(listed.text).not.toContain('foreign');
    expect((await owner.call('DELETE', `/teams/${all}`)).status).toBe(204);
    expect((await writer.call('GET', '/repos/acme/lent')).status).toBe(404);
  });

  it('go with the member who leaves', async () => {
    expect((await writer.call('DELETE', `/teams/${id}/members/writer`)).status).toBe(204);
    expect((await writer.call('GET', '/repos/acme/engine')).status).toBe(404);
  });
});

describe('a private team', () => {
  it('is known to its members, to owners and to site administrators only', async () => {
    await owner.call('POST', '/orgs', { username: 'lodge' });
    const open = await team('lodge', { name: 'open', units: ['repo.code'] }, [reader]);
    const secret = await team('lodge', { name: 'secret', units: ['repo.code'], visibility: 'private' }, [
      writer,
    ]);
    await repository('lodge', 'hall', false);
    for (const id of [open, secret]) await owner.call('PUT', `/teams/${id}/repos/lodge/hall`);
    const root = scene.person('lodge-root', { role: 'service_role' });
    const names = (items: readonly object[]) => items.map((one) => (one as { name: string }).name);
    for (const [who, sees] of [
      [owner, true],
      [writer, true],
      [root, true],
      [reader, false],
    ] as const) {
      const expected = ['Owners', 'open', ...(sees ? ['secret'] : [])];
      const list = await who.call('GET', '/orgs/lodge/teams');
      expect([who.name, names(list.items)]).toEqual([who.name, expected]);
      expect(list.headers.get('x-total-count')).toBe(String(expected.length));
      const found = await who.call('GET', '/orgs/lodge/teams/search?q=secret');
      expect(found.body['data']).toHaveLength(sees ? 1 : 0);
      expect(names((await who.call('GET', '/repos/lodge/hall/teams')).items)).toEqual(expected);
      expect((await who.call('GET', `/teams/${secret}`)).status).toBe(sees ? 200 : 404);
      expect((await who.call('GET', `/teams/${secret}/members`)).status).toBe(sees ? 200 : 404);
      expect((await who.call('GET', '/repos/lodge/hall/teams/secret')).status).toBe(sees ? 200 : 404);
    }
    expect((await stranger.call('GET', `/teams/${secret}`)).status).toBe(404);
    await refused(404, reader, 'PATCH', `/teams/${secret}`, { visibility: 'public' });
    await refused(403, writer, 'PATCH', `/teams/${secret}`, { visibility: 'public' });
    await refused(422, owner, 'PATCH', `/teams/${secret}`, { visibility: 'hidden' });
    await refused(422, owner, 'POST', '/orgs/lodge/teams', {
      name: 'x',
      units: ['repo.code'],
      visibility: 'hidden',
    });
    expect((await owner.call('GET', `/teams/${open}`)).body).toMatchObject({ visibility: 'limited' });
    expect((await owner.call('PATCH', `/teams/${secret}`, { description: 'x' })).body).toMatchObject({
      visibility: 'private',
    });
    expect((await owner.call('PATCH', `/teams/${secret}`, { visibility: 'public' })).body).toMatchObject({
      visibility: 'public',
    });
    expect((await reader.call('GET', `/teams/${secret}`)).status).toBe(403);
  });
});

describe('what a team reaches', () => {
  let open: number;
  let secret: number;
  beforeAll(async () => {
    await owner.call('POST', '/orgs', { username: 'vault' });
    open = await team('vault', { name: 'keys', units: ['repo.code'] }, [reader]);
    secret = await team('vault', { name: 'hush', units: ['repo.code'], visibility: 'private' }, [writer]);
    await repository('vault', 'door', false);
    for (const id of [open, secret]) await owner.call('PUT', `/teams/${id}/repos/vault/door`);
  });

  it('is found by those only who may know of the team', async () => {
    for (const [who, id, name, found] of [
      [owner, secret, 'hush', true],
      [writer, secret, 'hush', true],
      [reader, secret, 'hush', false],
      [reader, open, 'keys', true],
      [stranger, open, 'keys', false],
      [stranger, secret, 'hush', false],
    ] as const) {
      const { body } = await who.call('GET', `/repos/search?team_id=${id}`);
      expect([who.name, name, (body['data'] as object[]).length]).toEqual([who.name, name, found ? 1 : 0]);
      const { status } = await who.call('GET', `/repos/issues/search?owner=vault&team=${name}`);
      expect([who.name, name, status]).toEqual([who.name, name, found ? 200 : 400]);
    }
  });

  it('is not told to a stranger who offers it a repository', async () => {
    await repository('stranger', 'bait', false);
    const offers = () => scene.sql.rows`select * from :schema.repository_transfers`;
    const before = await offers();
    const unknown = await stranger.call('POST', '/repos/stranger/bait/transfer', {
      new_owner: 'vault',
      team_ids: [987654321],
    });
    const known = await stranger.call('POST', '/repos/stranger/bait/transfer', {
      new_owner: 'vault',
      team_ids: [open],
    });
    expect([unknown.status, known.status]).toEqual([403, 403]);
    expect(known.text.replace(String(open), '987654321')).toBe(unknown.text);
    expect(await offers()).toEqual(before);
  });

  it('is not told to others who administrate what a member offers it', async () => {
    await repository('reader', 'gift', false);
    await reader.call('PUT', '/repos/reader/gift/collaborators/stranger', { permission: 'admin' });
    const wish = { new_owner: 'vault', team_ids: [open] };
    expect((await reader.call('POST', '/repos/reader/gift/transfer', wish)).status).toBe(202);
    const told = async (who: Person) => (await who.call('GET', '/repos/reader/gift')).body['repo_transfer'];
    expect(await told(reader)).toMatchObject({ recipient: { login: 'vault' }, teams: [{ name: 'keys' }] });
    expect(await told(stranger)).toMatchObject({ recipient: { login: 'vault' }, teams: [] });
    await owner.call('PATCH', '/orgs/vault', { visibility: 'private' });
    expect(await told(reader)).toMatchObject({ recipient: { login: 'vault' } });
    expect(await told(stranger)).toBeNull();
    const { items } = await stranger.call('GET', '/user/repos');
    expect(items.find((one) => one['name'] === 'gift')).toMatchObject({ repo_transfer: null });
    expect((await owner.call('POST', '/repos/reader/gift/transfer/accept')).status).toBe(202);
    expect((await reader.call('GET', '/repos/vault/gift/teams/keys')).status).toBe(200);
  });
});
