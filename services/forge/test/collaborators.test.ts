import { beforeAll, describe, expect, it } from 'vitest';
import { useForge } from './forge.ts';
import { type Cast, castOf, openTo, organization } from './repository-scene.ts';

const scene = useForge();
let cast: Cast;
const base = '/repos/ada/garden/collaborators';
beforeAll(async () => {
  cast = await castOf(scene)();
  await cast.ada.call('POST', '/user/repos', { name: 'garden', private: true });
  await openTo(cast, 'ada/garden');
  await organization(scene, 'club', { owner: cast.ada, maker: cast.writer });
});
const rows = () => scene.sql.rows`select * from :schema.collaborators order by repository_id, user_id`;

it('a private repository is opened as far as it is said, and closed again', async () => {
  const list = await cast.reader.call('GET', base);
  expect(list.items.map(({ login }) => login)).toEqual(['admina', 'reader', 'writer']);
  expect(list.headers.get('x-total-count')).toBe('3');
  for (const [who, permissions] of [
    ['admin', { admin: true, push: true, pull: true }],
    ['writer', { admin: false, push: true, pull: true }],
    ['reader', { admin: false, push: false, pull: true }],
  ] as const) {
    expect((await cast[who].call('GET', '/repos/ada/garden')).body['permissions']).toEqual(permissions);
  }
  expect((await cast.stranger.call('GET', '/repos/ada/garden')).status).toBe(404);
  expect((await cast.ada.call('PUT', `${base}/stranger`)).status).toBe(204);
  expect((await cast.stranger.call('GET', '/repos/ada/garden')).body['permissions']).toMatchObject({
    push: true,
  });
  expect((await cast.ada.call('PUT', `${base}/STRANGER`, { permission: 'read' })).status).toBe(204);
  expect((await cast.stranger.call('GET', '/repos/ada/garden')).body['permissions']).toMatchObject({
    push: false,
  });
  expect((await cast.ada.call('GET', `${base}/stranger`)).status).toBe(204);
  expect((await cast.ada.call('DELETE', `${base}/stranger`)).status).toBe(204);
  expect((await cast.ada.call('GET', `${base}/stranger`)).status).toBe(404);
  expect((await cast.stranger.call('GET', '/repos/ada/garden')).status).toBe(404);
});

describe('is refused, and nothing changes:', () => {
  it.each([
    ['a writer who opens', 'writer', 'PUT', 'stranger', {}, 403],
    ['a writer who raises himself', 'writer', 'PUT', 'writer', { permission: 'admin' }, 403],
    ['a writer who closes', 'writer', 'DELETE', 'reader', undefined, 403],
    ['a stranger', 'stranger', 'PUT', 'stranger', {}, 404],
    ['a stranger who leaves', 'stranger', 'DELETE', 'stranger', undefined, 404],
    ['nobody', 'ada', 'PUT', 'nobody-here', {}, 422],
    ['an organization', 'ada', 'PUT', 'club', {}, 422],
    ['the owner', 'admin', 'PUT', 'ada', { permission: 'read' }, 422],
    ['owning', 'ada', 'PUT', 'reader', { permission: 'owner' }, 422],
    ['a level of the tables', 'ada', 'PUT', 'reader', { permission: 3 }, 422],
  ] as const)('%s', async (_what, who, method, subject, body, expected) => {
    const before = await rows();
    expect((await cast[who].call(method, `${base}/${subject}`, body)).status).toBe(expected);
    expect(await rows()).toEqual(before);
  });
});

it('whoever was let in may leave', async () => {
  await cast.ada.call('PUT', `${base}/stranger`, { permission: 'read' });
  expect((await cast.stranger.call('DELETE', `${base}/stranger`)).status).toBe(204);
  expect((await cast.stranger.call('GET', '/repos/ada/garden')).status).toBe(404);
});

it.each([
  ['ada', 'writer', 200, 'write'],
  ['ada', 'ada', 200, 'owner'],
  ['admin', 'stranger', 200, 'none'],
  ['reader', 'READER', 200, 'read'],
  ['reader', 'writer', 403, undefined],
  ['stranger', 'stranger', 404, undefined],
  ['ada', 'nobody-here', 404, undefined],
] as const)('%s asks what %s may do: %i', async (who, subject, status, permission) => {
  const answer = await cast[who].call('GET', `${base}/${subject}/permission`);
  expect([answer.status, answer.body['permission']]).toEqual([status, permission]);
});

it('writers can be assigned, readers asked for reviews', async () => {
  const { items } = await cast.reader.call('GET', '/repos/ada/garden/assignees');
  expect(items.map(({ login }) => login)).toEqual(['ada', 'admina', 'writer']);
  expect((await cast.reader.call('GET', '/repos/ada/garden/assignees/Writer')).status).toBe(204);
  expect((await cast.reader.call('GET', '/repos/ada/garden/assignees/reader')).status).toBe(404);
  const { items: reviewers } = await cast.reader.call('GET', '/repos/ada/garden/reviewers');
  expect(reviewers.map(({ login }) => login)).toEqual(['ada', 'admina', 'reader', 'writer']);
});

describe('teams', () => {
  const teams = '/repos/club/spade/teams';
  beforeAll(async () => {
    await cast.ada.call('POST', '/orgs/club/repos', { name: 'spade', private: true });
    await scene.sql.run`update :schema.teams set code = 1 where name = 'makers'`;
  });

  it('are given a repository and lose it', async () => {
    expect((await cast.writer.call('GET', '/repos/club/spade')).status).toBe(404);
    expect((await cast.ada.call('PUT', `${teams}/Makers`)).status).toBe(204);
    expect((await cast.writer.call('GET', '/repos/club/spade')).status).toBe(200);
    expect((await cast.ada.call('PUT', `${teams}/makers`)).status).toBe(422);
    expect((await cast.ada.call('GET', teams)).items.map((team) => team['name'])).toEqual([
      'Owners',
      'makers',
    ]);
    expect((await cast.ada.call('GET', `${teams}/makers`)).body['name']).toBe('makers');
    expect((await cast.writer.call('DELETE', `${teams}/makers`)).status).toBe(403);
    expect((await cast.ada.call('DELETE', `${teams}/makers`)).status).toBe(204);
    expect((await cast.ada.call('DELETE', `${teams}/makers`)).status).toBe(422);
    expect((await cast.writer.call('GET', teams)).status).toBe(404);
  });

  it('are changed by administrators of the repository where the organization says so', async () => {
    await cast.ada.call('PUT', '/repos/club/spade/collaborators/admina', { permission: 'admin' });
    expect((await cast.admin.call('PUT', `${teams}/makers`)).status).toBe(403);
    await scene.sql.run`update :schema.users set repository_admins_manage_teams = true where login = 'club'`;
    expect((await cast.admin.call('PUT', `${teams}/makers`)).status).toBe(204);
  });

  it('are nothing that people have', async () => {
    expect((await cast.ada.call('GET', '/repos/ada/garden/teams')).status).toBe(405);
    expect((await cast.ada.call('PUT', '/repos/ada/garden/teams/makers')).status).toBe(405);
    expect((await cast.stranger.call('GET', '/repos/ada/garden/teams')).status).toBe(404);
  });
});
