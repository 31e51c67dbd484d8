import { beforeAll, describe, expect, it } from 'vitest';
import { useForge } from './forge.ts';
import { type Cast, castOf, openTo, organization } from './repository-scene.ts';
import { rowsOf } from './rows-of.ts';

// Protections of tags as they are made and changed; what they refuse is in protected-tags.test.ts.

const scene = useForge();
let cast: Cast;
const base = '/repos/ada/garden/tag_protections';
beforeAll(async () => {
  cast = await castOf(scene)();
  await cast.ada.call('POST', '/user/repos', { name: 'garden', auto_init: true });
  await openTo(cast, 'ada/garden');
});
const rows = () => rowsOf(scene, 'tag_protections');
const make = async (name_pattern: string, whitelist_usernames = ['ada']) => {
  const { status, body } = await cast.ada.call('POST', base, { name_pattern, whitelist_usernames });
  expect(status).toBe(201);
  return body;
};
const remove = async (id: number) =>
  expect((await cast.ada.call('DELETE', `${base}/${id}`)).status).toBe(204);

it('a protection comes, is shown, changed and lifted', async () => {
  const made = await cast.admin.call('POST', base, {
    name_pattern: ' v* ',
    whitelist_usernames: ['Writer', 'ada', 'writer'],
  });
  expect(made.status).toBe(201);
  expect(made.body).toEqual({
    id: expect.any(Number),
    name_pattern: 'v*',
    whitelist_usernames: ['writer', 'ada'],
    whitelist_teams: [],
    created_at: expect.stringMatching(/^20.*Z$/),
    updated_at: made.body['created_at'],
  });
  const path = `${base}/${made.body.id}`;
  expect((await cast.ada.call('GET', path)).body).toEqual(made.body);
  expect((await cast.root.call('GET', path)).status).toBe(200);

  const changed = await cast.ada.call('PATCH', path, { name_pattern: '/^v\\d+/' });
  expect([changed.status, changed.body]).toEqual([
    200,
    { ...made.body, name_pattern: '/^v\\d+/', updated_at: expect.any(String) },
  ]);
  const emptied = await cast.ada.call('PATCH', path, { whitelist_usernames: [], whitelist_teams: null });
  expect(emptied.body).toMatchObject({ name_pattern: '/^v\\d+/', whitelist_usernames: [] });
  expect((await cast.ada.call('PATCH', path, {})).body).toMatchObject({ name_pattern: '/^v\\d+/' });

  const second = await make('rel-{a,b}');
  const list = await cast.ada.call('GET', base);
  expect(list.items.map((one) => one['id'])).toEqual([made.body.id, second.id]);
  await remove(second.id);
  await remove(made.body.id);
  expect((await cast.ada.call('GET', path)).status).toBe(404);
  expect((await cast.ada.call('DELETE', path)).status).toBe(404);
  expect((await cast.ada.call('GET', base)).items).toEqual([]);
});

it('of two edits at a time none takes the other’s back', async () => {
  const { id } = await make('twice');
  await Promise.all([
    cast.ada.call('PATCH', `${base}/${id}`, { name_pattern: 'thrice' }),
    cast.admin.call('PATCH', `${base}/${id}`, { whitelist_usernames: ['writer'] }),
  ]);
  expect((await cast.ada.call('GET', `${base}/${id}`)).body).toMatchObject({
    name_pattern: 'thrice',
    whitelist_usernames: ['writer'],
  });
  await remove(id);
});

it('whoever is listed keeps his place when he is renamed, and loses it when he goes', async () => {
  const leaver = scene.person('leaver');
  await leaver.call('GET', '/user');
  await cast.ada.call('PUT', '/repos/ada/garden/collaborators/leaver', { permission: 'write' });
  const { id } = await make('kept-*', ['writer', 'leaver']);
  const named = async () => (await cast.ada.call('GET', `${base}/${id}`)).body['whitelist_usernames'];
  await scene.sql.run`update :schema.users set login = 'author' where login = 'writer'`;
  expect(await named()).toEqual(['author', 'leaver']);
  await scene.sql.run`update :schema.users set login = 'writer' where login = 'author'`;
  expect((await cast.root.call('DELETE', '/admin/users/leaver')).status).toBe(204);
  expect(await named()).toEqual(['writer']);
  await remove(id);
});

describe('is refused', () => {
  const listed = { whitelist_usernames: ['ada'] };
  let id: number;
  beforeAll(async () => {
    ({ id } = await make('taken'));
    await make('other');
  });

  it.each([
    ['without a pattern', listed, 422],
    ['with a pattern of nothing', { ...listed, name_pattern: '  ' }, 422],
    ['with nobody listed', { name_pattern: 'x' }, 422],
    ['with empty lists', { name_pattern: 'x', whitelist_usernames: [], whitelist_teams: [] }, 422],
    ['for a pattern there is', { ...listed, name_pattern: 'taken' }, 403],
    ['for a glob that cannot be read', { ...listed, name_pattern: 'a[' }, 422],
    ['for an expression that cannot be read', { ...listed, name_pattern: '/a(/' }, 422],
    ['for an expression that looks around', { ...listed, name_pattern: '/^(?=a)/' }, 422],
    ['for an expression that refers back', { ...listed, name_pattern: '/^(a)\\1/' }, 422],
    ['for an expression beyond what is followed', { ...listed, name_pattern: '/(a{99}){99}/' }, 422],
    ['for a pattern without end', { ...listed, name_pattern: 'x'.repeat(256) }, 422],
    ['with somebody unknown', { name_pattern: 'x', whitelist_usernames: ['nobody-here'] }, 422],
    ['with somebody who may not write', { name_pattern: 'x', whitelist_usernames: ['reader'] }, 422],
    ['with a team nobody has', { ...listed, name_pattern: 'x', whitelist_teams: ['none'] }, 422],
    [
      'with more people than make sense',
      { name_pattern: 'x', whitelist_usernames: Array(101).fill('ada') },
      422,
    ],
    ['with a wrong type', { ...listed, name_pattern: 5 }, 422],
    ['with NUL', { ...listed, name_pattern: 'x\0' }, 422],
  ])('%s', async (_what, body, status) => {
    const before = await rows();
    expect((await cast.ada.call('POST', base, body)).status).toBe(status);
    expect(await rows()).toEqual(before);
  });

  it.each([
    ['to a pattern of nothing', { name_pattern: '' }],
    ['to a pattern another has', { name_pattern: 'other' }],
    ['to an expression that cannot be read', { name_pattern: '/*/' }],
    ['to somebody unknown', { whitelist_usernames: ['nobody-here'] }],
    ['to a team nobody has', { whitelist_teams: ['none'] }],
  ])('a change %s', async (_what, body) => {
    const before = await rows();
    expect((await cast.ada.call('PATCH', `${base}/${id}`, body)).status).toBe(422);
    expect(await rows()).toEqual(before);
  });

  it.each(['0', '-1', 'taken', '99999999999999999999', '1.5'])('under the id %s', async (wrong) => {
    const before = await rows();
    for (const method of ['GET', 'PATCH', 'DELETE'])
      expect(
        (await cast.ada.call(method, `${base}/${wrong}`, method === 'PATCH' ? {} : undefined)).status,
      ).toBe(404);
    expect(await rows()).toEqual(before);
  });

  it('under an id of another repository', async () => {
    await cast.stranger.call('POST', '/user/repos', { name: 'yard' });
    const before = await rows();
    const path = `/repos/stranger/yard/tag_protections/${id}`;
    expect((await cast.stranger.call('GET', path)).status).toBe(404);
    expect((await cast.stranger.call('PATCH', path, { name_pattern: 'y' })).status).toBe(404);
    expect((await cast.stranger.call('DELETE', path)).status).toBe(404);
    expect(await rows()).toEqual(before);
  });

  it.each(['writer', 'reader', 'stranger'] as const)('to a %s', async (who) => {
    const before = await rows();
    const mine = { name_pattern: 'y', whitelist_usernames: [who] };
    expect((await cast[who].call('GET', base)).status).toBe(403);
    expect((await cast[who].call('GET', `${base}/${id}`)).status).toBe(403);
    expect((await cast[who].call('POST', base, mine)).status).toBe(403);
    expect((await cast[who].call('PATCH', `${base}/${id}`, mine)).status).toBe(403);
    expect((await cast[who].call('DELETE', `${base}/${id}`)).status).toBe(403);
    expect(await rows()).toEqual(before);
  });

  it('to strangers as if there were none, where the repository is private', async () => {
    await cast.ada.call('POST', '/user/repos', { name: 'diary', private: true });
    const path = '/repos/ada/diary/tag_protections';
    const secret = await cast.ada.call('POST', path, { ...listed, name_pattern: 'x' });
    expect((await cast.stranger.call('GET', path)).status).toBe(404);
    expect((await cast.stranger.call('GET', `${path}/${secret.body.id}`)).status).toBe(404);
    expect((await cast.stranger.call('POST', path, { ...listed, name_pattern: 'y' })).status).toBe(404);
  });

  it('in an archived repository', async () => {
    await cast.ada.call('PATCH', '/repos/ada/garden', { archived: true });
    const before = await rows();
    expect((await cast.ada.call('GET', base)).status).toBe(200);
    expect((await cast.ada.call('POST', base, { ...listed, name_pattern: 'y' })).status).toBe(423);
    expect((await cast.ada.call('PATCH', `${base}/${id}`, { name_pattern: 'y' })).status).toBe(423);
    expect((await cast.ada.call('DELETE', `${base}/${id}`)).status).toBe(423);
    expect(await rows()).toEqual(before);
    await cast.ada.call('PATCH', '/repos/ada/garden', { archived: false });
  });

  it('beyond fifty of them', async () => {
    await cast.ada.call('POST', '/user/repos', { name: 'many' });
    const path = '/repos/ada/many/tag_protections';
    for (let index = 0; index < 50; index++)
      expect((await cast.ada.call('POST', path, { ...listed, name_pattern: `v${index}` })).status).toBe(201);
    const before = await rows();
    expect((await cast.ada.call('POST', path, { ...listed, name_pattern: 'v50' })).status).toBe(422);
    expect(await rows()).toEqual(before);
  });
});

it('teams of the organization are listed by their names, and go when they are deleted', async () => {
  await organization(scene, 'club', { owner: cast.ada, maker: cast.writer });
  await cast.ada.call('POST', '/orgs/club/repos', { name: 'spade' });
  const path = '/repos/club/spade/tag_protections';
  const made = await cast.ada.call('POST', path, {
    name_pattern: 'v*',
    whitelist_teams: ['Makers', 'owners'],
  });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({ whitelist_usernames: [], whitelist_teams: ['makers', 'Owners'] });
  await scene.sql.run`delete from :schema.teams where name = 'makers'`;
  const [shown] = (await cast.ada.call('GET', path)).items;
  expect(shown).toMatchObject({ whitelist_teams: ['Owners'] });
});

it('protections go with their repository', async () => {
  const count = async () => (await rows())[0]?.length ?? 0;
  const before = await count();
  expect((await cast.ada.call('DELETE', '/repos/ada/many')).status).toBe(204);
  expect(await count()).toBe(before - 50);
});
