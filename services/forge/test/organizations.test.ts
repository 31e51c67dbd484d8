import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, personWith, type Reply, request, useForge } from './forge.ts';

const scene = useForge();
let owner: Person;
let second: Person;
let writer: Person;
let stranger: Person;
let admin: Person;

/** Makes a team of an organization, with members, and returns its id. */
async function team(org: string, name: string, members: readonly Person[], more: object = {}) {
  const made = await owner.call('POST', `/orgs/${org}/teams`, {
    name,
    permission: 'write',
    units: ['repo.code', 'repo.issues'],
    ...more,
  });
  expect(made.status).toBe(201);
  for (const { name: login } of members) {
    expect((await owner.call('PUT', `/teams/${made.body.id}/members/${login}`)).status).toBe(204);
  }
  return made.body.id;
}

const make = async (username: string, more: object = {}) => {
  const made = await owner.call('POST', '/orgs', { username, ...more });
  expect([made.status, made.text]).toEqual([201, made.text]);
  return made;
};
const logins = ({ items }: Reply) => items.map(({ login }) => login);
const names = ({ items }: Reply) => items.map((one) => one['name']);
const snapshot = () =>
  scene.sql.row<{ all: string }>`
    select md5(string_agg(t::text, '|' order by t::text)) as all from (
      select u.id::text || u.login || u.visibility || u.description as t from :schema.users u where kind = 'organization'
      union all select 'team' || t::text from :schema.teams t union all select 'm' || m::text from :schema.team_members m
      union all select 'p' || p::text from :schema.public_members p
      union all select 'r' || r::text from :schema.team_repositories r) t`;

/** A refusal after which everything is as it was. */
async function refused(status: number, person: Person, method: string, path: string, body?: unknown) {
  const before = await snapshot();
  const answer = await person.call(method, path, body);
  expect([method, path, answer.status, answer.text]).toEqual([method, path, status, answer.text]);
  expect(await snapshot()).toEqual(before);
  return answer;
}

beforeAll(async () => {
  owner = scene.person('owner');
  second = scene.person('second');
  writer = scene.person('writer');
  stranger = scene.person('stranger');
  admin = scene.person('boss', { role: 'service_role' });
  for (const person of [owner, second, writer, stranger, admin]) await person.call('GET', '/user');
});

describe('an organization', () => {
  it('is made with a team of owners, of whom its maker is one', async () => {
    const { body } = await make('acme', {
      full_name: 'Acme Inc',
      description: 'Rockets',
      website: 'https://acme.test',
      location: 'Desert',
    });
    expect(body).toMatchObject({
      name: 'acme',
      username: 'acme',
      full_name: 'Acme Inc',
      description: 'Rockets',
      website: 'https://acme.test',
      location: 'Desert',
      visibility: 'public',
      repo_admin_change_team_access: false,
    });
    const teams = await owner.call('GET', '/orgs/acme/teams');
    expect(teams.items).toMatchObject([
      { name: 'Owners', permission: 'owner', includes_all_repositories: true, can_create_org_repo: true },
    ]);
    expect(logins(await owner.call('GET', '/orgs/acme/members'))).toEqual(['owner']);
    expect(names(await owner.call('GET', '/user/orgs'))).toContain('acme');
    expect((await stranger.call('GET', '/users/ACME')).body).toMatchObject({
      login: 'acme',
      full_name: 'Acme Inc',
    });
  });

  it.each([
    ['a name that is taken', { username: 'ACME' }, 'user already exists [name: ACME]'],
    ["a person's name", { username: 'stranger' }, 'user already exists [name: stranger]'],
    ['a reserved name', { username: 'api' }, 'name is reserved [name: api]'],
    ['a name of a folder', { username: '..' }, 'name is reserved [name: ..]'],
    ['a name git would read', { username: '-x' }, 'name is reserved [name: -x]'],
    ['a malformed name', { username: 'a/b' }, '[Username]: AlphaDashDot'],
    ['a long name', { username: 'a'.repeat(41) }, '[Username]: MaxSize(40)'],
    ['no name', {}, '[Username]: Required'],
    [
      'a visibility that is none',
      { username: 'ok', visibility: 'secret' },
      '[Visibility]: In(public,limited,private)',
    ],
    ['a link that runs', { username: 'ok', website: 'javascript:alert(1)' }, '[Website]: ValidUrl'],
    ['a long description', { username: 'ok', description: 'x'.repeat(256) }, '[Description]: MaxSize(255)'],
    [
      'a value of another type',
      { username: 1 },
      '[Username]: Invalid input: expected string, received number',
    ],
    ['a NUL', { username: 'ok', description: 'a\0b' }, '[Description]: NUL is not allowed'],
  ])('is not made with %s', async (_what, body, message) => {
    expect((await refused(422, owner, 'POST', '/orgs', body)).body.message).toBe(message);
  });

  it('has no address unless it was given one, by which clients tell it from a person', async () => {
    await make('addressless');
    expect((await owner.call('GET', '/users/addressless')).body).toMatchObject({ email: '' });
    expect((await owner.call('PATCH', '/orgs/addressless', { email: 'to@example.test' })).status).toBe(200);
    for (const path of ['/users/addressless', '/orgs/addressless'])
      expect((await stranger.call('GET', path)).body).toMatchObject({ email: 'to@example.test' });
  });

  it('is changed by its owners only, in what they name', async () => {
    const changed = await owner.call('PATCH', '/orgs/acme', { description: 'Anvils', visibility: 'limited' });
    expect(changed.body).toMatchObject({
      description: 'Anvils',
      visibility: 'limited',
      full_name: 'Acme Inc',
    });
    expect(
      (await owner.call('PATCH', '/orgs/acme', { visibility: 'public', website: '' })).body,
    ).toMatchObject({
      visibility: 'public',
      website: '',
      description: 'Anvils',
    });
    await refused(403, stranger, 'PATCH', '/orgs/acme', { description: 'Mine' });
    await refused(422, owner, 'PATCH', '/orgs/acme', { visibility: 'x' });
    await refused(404, owner, 'PATCH', '/orgs/nobody', { description: 'x' });
    await refused(404, owner, 'PATCH', '/orgs/stranger', { description: 'a person' });
  });

  it('gets another name, and the old one leads to it', async () => {
    await make('oldname');
    await refused(403, stranger, 'POST', '/orgs/oldname/rename', { new_name: 'stolen' });
    await refused(422, owner, 'POST', '/orgs/oldname/rename', { new_name: 'acme' });
    await refused(422, owner, 'POST', '/orgs/oldname/rename', { new_name: 'user' });
    expect((await owner.call('POST', '/orgs/oldname/rename', { new_name: 'OldName' })).status).toBe(204);
    expect((await owner.call('POST', '/orgs/oldname/rename', { new_name: 'newname' })).status).toBe(204);
    const moved = await fetch(`${scene.address}/api/v1/orgs/oldname/members?page=1`, {
      headers: { authorization: `Bearer ${owner.token}` },
      redirect: 'manual',
    });
    expect(moved.status).toBe(307);
    expect(moved.headers.get('location')).toBe(`${scene.address}/api/v1/orgs/newname/members?page=1`);
    await owner.call('PATCH', '/orgs/newname', { visibility: 'private' });
    expect((await stranger.call('GET', '/orgs/oldname')).status).toBe(404);
  });

  it('goes only when it has no repositories, and by its owners', async () => {
    const { body } = await make('short');
    await refused(403, stranger, 'DELETE', '/orgs/short');
    await scene.sql.run`
      insert into :schema.repositories (owner_id, name, private, default_branch, state, created_at, updated_at)
      values (${body.id}, 'r', false, 'main', 'making', now(), now())`;
    await refused(422, owner, 'DELETE', '/orgs/short');
    await scene.sql.run`delete from :schema.repositories where owner_id = ${body.id}`;
    expect((await owner.call('DELETE', '/orgs/short')).status).toBe(204);
    expect((await owner.call('GET', '/orgs/short')).status).toBe(404);
    await refused(404, owner, 'DELETE', '/orgs/short');
  });

  it('is nobody who signs in: no tokens, no password, no person of its own', async () => {
    await refused(404, admin, 'POST', '/users/acme/tokens', { name: 't', scopes: ['all'] });
    expect((await admin.call('GET', '/users/acme/orgs')).status).toBe(404);
    const answer = await request(`${scene.address}/api/v1/user`, 'GET', undefined, {
      authorization: `Basic ${Buffer.from('acme:secret').toString('base64')}`,
    });
    expect(answer.status).toBe(401);
  });
});

describe('a private organization', () => {
  let members: number;
  beforeAll(async () => {
    await make('hidden', { visibility: 'private', email: 'team@hidden.test' });
    members = await team('hidden', 'crew', [writer]);
  });

  const paths = () =>
    [
      '',
      '/members',
      '/members/writer',
      '/members/owner',
      '/public_members',
      '/public_members/writer',
      '/teams',
    ]
      .map((path) => `/orgs/hidden${path}`)
      .concat('/orgs/hidden/teams/search', `/teams/${members}`, `/teams/${members}/members`, '/users/hidden');

  it('is not there for a stranger: every path answers as for a name nobody has', async () => {
    for (const path of paths()) {
      const [there, nowhere] = await Promise.all([
        stranger.call('GET', path),
        stranger.call('GET', path.replace('hidden', 'nobody-here').replace(String(members), '999999')),
      ]);
      expect([path, there.status, there.text]).toEqual([
        path,
        404,
        nowhere.text.replaceAll('nobody-here', 'hidden'),
      ]);
    }
    for (const [method, path] of [
      ['PATCH', '/orgs/hidden'],
      ['DELETE', '/orgs/hidden'],
      ['DELETE', '/orgs/hidden/members/stranger'],
      ['PUT', '/orgs/hidden/public_members/stranger'],
      ['POST', '/orgs/hidden/teams'],
      ['PATCH', `/teams/${members}`],
      ['DELETE', `/teams/${members}`],
      ['PUT', `/teams/${members}/members/stranger`],
    ] as const) {
      const body = ['POST', 'PATCH'].includes(method) ? { name: 'x', permission: 'admin' } : undefined;
      await refused(404, stranger, method, path, body);
    }
  });

  it('is in no list and no count of a stranger', async () => {
    const [all, ofWriter] = await Promise.all([
      stranger.call('GET', '/orgs?limit=50'),
      stranger.call('GET', '/users/writer/orgs'),
    ]);
    expect(names(all)).not.toContain('hidden');
    expect(all.headers.get('x-total-count')).toBe(String(all.items.length));
    expect(ofWriter.items).toEqual([]);
    expect(ofWriter.headers.get('x-total-count')).toBe('0');
    expect((await stranger.call('GET', '/users/writer/orgs/hidden/permissions')).status).toBe(404);
  });

  it('is there for members and site administrators, and 404 for tokens that are for public things', async () => {
    for (const person of [owner, writer, admin]) {
      expect((await person.call('GET', '/orgs/hidden')).body).toMatchObject({ name: 'hidden' });
      expect(names(await person.call('GET', '/orgs?limit=50'))).toContain('hidden');
    }
    for (const login of ['owner', 'boss']) {
      const person = login === 'owner' ? owner : admin;
      const { body } = await person.call('POST', `/users/${login}/tokens`, {
        name: 'public',
        scopes: ['public-only'],
      });
      const limited = personWith(login, body.sha1, () => scene.address);
      expect((await limited.call('GET', '/orgs/hidden')).status).toBe(404);
      expect(names(await limited.call('GET', '/user/orgs'))).not.toContain('hidden');
      expect(names(await limited.call('GET', '/orgs?limit=50'))).not.toContain('hidden');
      expect((await limited.call('GET', '/user/teams')).text).not.toContain('hidden');
      expect((await limited.call('GET', `/teams/${members}`)).status).toBe(404);
    }
  });

  it('is not made, and none is hidden, with a token that is for public things', async () => {
    await make('seen');
    for (const login of ['owner', 'boss']) {
      const scopes = ['public-only', 'all'];
      const { body } = await (login === 'owner' ? owner : admin).call('POST', `/users/${login}/tokens`, {
        name: 'all that is public',
        scopes,
      });
      const limited = personWith(login, body.sha1, () => scene.address);
      for (const visibility of ['private', 'limited']) {
        const wish = { username: 'unseen', visibility };
        await refused(403, limited, 'POST', '/orgs', wish);
        await refused(403, limited, 'PATCH', '/orgs/seen', { visibility });
        if (login === 'boss') await refused(403, limited, 'POST', '/admin/users/owner/orgs', wish);
      }
      const open = { visibility: 'public', description: login };
      if (login === 'owner')
        expect((await limited.call('PATCH', '/orgs/seen', open)).body).toMatchObject(open);
      expect((await limited.call('POST', '/orgs', { username: `of-${login}` })).status).toBe(201);
    }
  });
});

describe('members', () => {
  beforeAll(async () => {
    await make('club');
    await team('club', 'crew', [writer]);
  });

  it('are all there for members, and for others only who shows it', async () => {
    expect(logins(await writer.call('GET', '/orgs/club/members'))).toEqual(['owner', 'writer']);
    expect(logins(await stranger.call('GET', '/orgs/club/members'))).toEqual([]);
    expect((await stranger.call('GET', '/orgs/club/members')).headers.get('x-total-count')).toBe('0');
    expect((await writer.call('PUT', '/orgs/club/public_members/writer')).status).toBe(204);
    expect((await writer.call('PUT', '/orgs/club/public_members/WRITER')).status).toBe(204);
    expect(logins(await stranger.call('GET', '/orgs/club/members'))).toEqual(['writer']);
    expect(logins(await stranger.call('GET', '/orgs/club/public_members'))).toEqual(['writer']);
    expect(names(await stranger.call('GET', '/users/writer/orgs'))).toEqual(['club']);
    expect(names(await stranger.call('GET', '/users/owner/orgs'))).not.toContain('club');
    expect((await writer.call('DELETE', '/orgs/club/public_members/writer')).status).toBe(204);
    expect(names(await stranger.call('GET', '/users/writer/orgs'))).toEqual([]);
  });

  it('decide themselves who sees it', async () => {
    await refused(403, owner, 'PUT', '/orgs/club/public_members/writer');
    await refused(403, writer, 'DELETE', '/orgs/club/public_members/owner');
    await refused(403, stranger, 'PUT', '/orgs/club/public_members/stranger');
  });

  it('are asked about by members; others are sent to who shows it', async () => {
    const ask = (person: Person, name: string) =>
      fetch(`${scene.address}/api/v1/orgs/club/members/${name}`, {
        headers: { authorization: `Bearer ${person.token}` },
        redirect: 'manual',
      });
    expect((await ask(owner, 'writer')).status).toBe(204);
    expect((await ask(owner, 'stranger')).status).toBe(404);
    expect((await ask(owner, 'nobody-here')).status).toBe(404);
    // The same for members, for others and for names nobody has.
    for (const name of ['writer', 'stranger', 'nobody-here']) {
      const sent = await ask(stranger, name);
      expect(sent.status).toBe(302);
      expect(sent.headers.get('location')).toBe(`${scene.address}/api/v1/orgs/club/public_members/${name}`);
      expect((await stranger.call('GET', `/orgs/club/members/${name}`)).status).toBe(404);
    }
  });

  it('are taken out by owners, and leave by themselves', async () => {
    await make('leaving');
    await team('leaving', 'one', [writer, second]);
    await team('leaving', 'two', [writer]);
    await writer.call('PUT', '/orgs/leaving/public_members/writer');
    await refused(403, second, 'DELETE', '/orgs/leaving/members/writer');
    await refused(404, owner, 'DELETE', '/orgs/leaving/members/stranger');
    expect((await owner.call('DELETE', '/orgs/leaving/members/writer')).status).toBe(204);
    expect((await second.call('DELETE', '/orgs/leaving/members/second')).status).toBe(204);
    expect(logins(await owner.call('GET', '/orgs/leaving/members'))).toEqual(['owner']);
    expect(logins(await owner.call('GET', '/orgs/leaving/public_members'))).toEqual([]);
    await team('leaving', 'three', [writer]);
    expect(logins(await owner.call('GET', '/orgs/leaving/public_members'))).toEqual([]);
  });

  it('the last owner stays, by whatever path he goes', async () => {
    await make('lonely');
    const [owners] = (await owner.call('GET', '/orgs/lonely/teams')).items;
    await refused(403, owner, 'DELETE', '/orgs/lonely/members/owner');
    await refused(403, owner, 'DELETE', `/teams/${owners?.id}/members/owner`);
    await refused(403, admin, 'DELETE', '/orgs/lonely/members/owner');
    await refused(403, owner, 'DELETE', `/teams/${owners?.id}`);
  });

  it.each(['members', 'team'])(
    'two owners who remove each other at once: one of them stays (%s)',
    async (way) => {
      for (let round = 0; round < 5; round++) {
        const org = `race-${way}-${round}`;
        await make(org);
        const id = (await owner.call('GET', `/orgs/${org}/teams`)).items[0]?.id;
        expect((await owner.call('PUT', `/teams/${id}/members/second`)).status).toBe(204);
        const path = (name: string) =>
          way === 'members' ? `/orgs/${org}/members/${name}` : `/teams/${id}/members/${name}`;
        const answers = await Promise.all([
          owner.call('DELETE', path('second')),
          second.call('DELETE', path('owner')),
        ]);
        expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
        expect((await admin.call('GET', `/teams/${id}/members`)).items).toHaveLength(1);
      }
    },
  );
});

describe('permissions in an organization', () => {
  beforeAll(async () => {
    await make('ranks');
    await team('ranks', 'readers', [writer], { permission: 'read', can_create_org_repo: true });
  });
  const of = (person: Person, who: string) => person.call('GET', `/users/${who}/orgs/ranks/permissions`);

  it('are the highest of all teams', async () => {
    expect((await of(owner, 'owner')).body).toEqual({
      is_owner: true,
      is_admin: true,
      can_write: true,
      can_read: true,
      can_create_repository: true,
    });
    expect((await of(writer, 'writer')).body).toEqual({
      is_owner: false,
      is_admin: false,
      can_write: false,
      can_read: true,
      can_create_repository: true,
    });
    expect((await of(stranger, 'stranger')).body).toMatchObject({
      can_read: false,
      can_create_repository: false,
    });
  });

  it('tell strangers nothing about who is a member', async () => {
    const [member, none] = await Promise.all([of(stranger, 'writer'), of(stranger, 'second')]);
    expect([member.status, member.text]).toEqual([403, none.text]);
  });
});
