import { beforeAll, describe, expect, it } from 'vitest';
import { useForge } from './forge.ts';
import { type Cast, castOf, openTo, organization } from './repository-scene.ts';

const scene = useForge();
let cast: Cast;
const base = '/repos/ada/garden/branch_protections';
beforeAll(async () => {
  cast = await castOf(scene)();
  await cast.ada.call('POST', '/user/repos', { name: 'garden', auto_init: true });
  await openTo(cast, 'ada/garden');
});
const rows = () => scene.sql.rows`select * from :schema.branch_protections order by id`;

it('a protection comes, is shown, changed and lifted', async () => {
  const made = await cast.admin.call('POST', base, {
    rule_name: 'release/*',
    enable_push: true,
    enable_push_whitelist: true,
    push_whitelist_usernames: ['Writer'],
    status_check_contexts: ['ci/test'],
    required_approvals: 2,
  });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({
    rule_name: 'release/*',
    branch_name: 'release/*',
    priority: 1,
    enable_push: true,
    push_whitelist_usernames: ['writer'],
    push_whitelist_teams: [],
    enable_force_push: false,
    status_check_contexts: ['ci/test'],
    required_approvals: 2,
    protected_file_patterns: '',
  });
  for (const name of ['release/*', 'release%2F*']) {
    const shown = await cast.ada.call('GET', `${base}/${name}`);
    expect([name, shown.status, shown.body]).toEqual([name, 200, made.body]);
  }
  const changed = await cast.ada.call('PATCH', `${base}/release%2F*`, {
    required_approvals: 0,
    push_whitelist_usernames: [],
  });
  expect(changed.status).toBe(200);
  expect(changed.body).toEqual({
    ...made.body,
    required_approvals: 0,
    push_whitelist_usernames: [],
    updated_at: expect.any(String),
  });
  expect((await cast.ada.call('POST', base, { branch_name: 'main' })).body).toMatchObject({
    rule_name: 'main',
    priority: 2,
  });
  const list = await cast.ada.call('GET', base);
  expect(list.items.map((one) => one['rule_name'])).toEqual(['release/*', 'main']);
  expect((await cast.ada.call('DELETE', `${base}/release/*`)).status).toBe(204);
  expect((await cast.ada.call('GET', `${base}/release/*`)).status).toBe(404);
  expect((await cast.ada.call('DELETE', `${base}/release/*`)).status).toBe(404);
});

it('of two edits at a time none takes the other’s back', async () => {
  await Promise.all([
    cast.ada.call('PATCH', `${base}/main`, { enable_status_check: true }),
    cast.admin.call('PATCH', `${base}/main`, { require_signed_commits: true }),
  ]);
  expect((await cast.ada.call('GET', `${base}/main`)).body).toMatchObject({
    enable_status_check: true,
    require_signed_commits: true,
  });
});

it('whoever is listed keeps his place when he is renamed, and loses it when he goes', async () => {
  await cast.ada.call('PATCH', `${base}/main`, { merge_whitelist_usernames: ['writer', 'admina'] });
  await scene.sql.run`update :schema.users set login = 'author' where login = 'writer'`;
  const named = async () =>
    (await cast.ada.call('GET', `${base}/main`)).body['merge_whitelist_usernames'] as string[];
  expect(await named()).toEqual(['author', 'admina']);
  await scene.sql.run`update :schema.users set login = 'writer' where login = 'author'`;
});

describe('is refused', () => {
  it.each([
    ['without a name', {}, 422],
    ['under a name there is', { rule_name: 'main' }, 403],
    ['for a glob that cannot be read', { rule_name: 'a[' }, 422],
    ['for a name without end', { rule_name: 'x'.repeat(256) }, 422],
    ['with nobody', { rule_name: 'x', push_whitelist_usernames: ['nobody-here'] }, 422],
    ['with somebody who may not write', { rule_name: 'x', push_whitelist_usernames: ['stranger'] }, 422],
    ['with a team nobody has', { rule_name: 'x', merge_whitelist_teams: ['none'] }, 422],
    ['with a number of approvals below zero', { rule_name: 'x', required_approvals: -1 }, 422],
    ['with file patterns that cannot be read', { rule_name: 'x', protected_file_patterns: 'a;b{' }, 422],
    ['with a priority beyond all numbers of priorities', { rule_name: 'x', priority: 2 ** 31 }, 422],
    ['with a wrong type', { rule_name: 'x', enable_push: 'yes' }, 422],
  ])('%s', async (_what, body, status) => {
    const before = await rows();
    expect((await cast.ada.call('POST', base, body)).status).toBe(status);
    expect(await rows()).toEqual(before);
  });

  it.each([
    ['writer', 403],
    ['reader', 403],
    ['stranger', 403],
  ] as const)('to a %s', async (who, status) => {
    const before = await rows();
    expect((await cast[who].call('GET', base)).status).toBe(status);
    expect((await cast[who].call('POST', base, { rule_name: 'y' })).status).toBe(status);
    expect((await cast[who].call('PATCH', `${base}/main`, { enable_push: true })).status).toBe(status);
    expect((await cast[who].call('DELETE', `${base}/main`)).status).toBe(status);
    expect(await rows()).toEqual(before);
  });

  it('to strangers as if there were none, where the repository is private', async () => {
    await cast.ada.call('POST', '/user/repos', { name: 'diary', private: true });
    expect((await cast.stranger.call('GET', '/repos/ada/diary/branch_protections')).status).toBe(404);
    expect(
      (await cast.stranger.call('POST', '/repos/ada/diary/branch_protections', { rule_name: 'x' })).status,
    ).toBe(404);
  });
});

it('teams of the organization are listed by their names', async () => {
  await organization(scene, 'club', { owner: cast.ada, maker: cast.writer });
  await cast.ada.call('POST', '/orgs/club/repos', { name: 'spade' });
  const { status, body } = await cast.ada.call('POST', '/repos/club/spade/branch_protections', {
    rule_name: 'main',
    enable_push: true,
    enable_push_whitelist: true,
    push_whitelist_teams: ['Makers'],
  });
  expect(status).toBe(201);
  expect(body['push_whitelist_teams']).toEqual(['makers']);
});

it('protections come in the order of their ids, all of them or none', async () => {
  const path = `${base}/priority`;
  const ids = new Map<string, number>();
  for (const rule of ['first/*', 'second/*', 'third/*'])
    ids.set(rule, (await cast.ada.call('POST', base, { rule_name: rule })).body.id);
  const order = async () =>
    (await cast.ada.call('GET', base)).items
      .map((one) => String(one['rule_name']))
      .filter((rule) => ids.has(rule));
  const [one = 0, two = 0, three = 0] = ids.values();
  expect((await cast.admin.call('POST', path, { ids: [three, one, two] })).status).toBe(204);
  expect(await order()).toEqual(['third/*', 'first/*', 'second/*']);
  expect((await cast.ada.call('POST', path, { ids: [] })).status).toBe(204);
  const before = await rows();
  for (const [who, wish, status] of [
    ['ada', { ids: [one, two, 987654321] }, 422],
    ['ada', { ids: [one, one] }, 422],
    ['ada', { ids: ['first/*'] }, 422],
    ['writer', { ids: [one, two] }, 403],
  ] as const)
    expect([wish, (await cast[who].call('POST', path, wish)).status]).toEqual([wish, status]);
  await cast.ada.call('POST', '/user/repos', { name: 'elsewhere', auto_init: true });
  const foreign = '/repos/ada/elsewhere/branch_protections/priority';
  expect((await cast.ada.call('POST', foreign, { ids: [one] })).status).toBe(422);
  expect(await rows()).toEqual(before);
});

it('a repository has a hundred of them at most', async () => {
  const { ada } = cast;
  await ada.call('POST', '/user/repos', { name: 'full', auto_init: true });
  const path = '/repos/ada/full/branch_protections';
  for (let n = 0; n < 100; n++)
    expect((await ada.call('POST', path, { rule_name: `branch-${n}` })).status).toBe(201);
  const before = await rows();
  const refused = await ada.call('POST', path, { rule_name: 'one-more' });
  expect([refused.status, refused.body.message]).toEqual([422, '[BranchProtections]: MaxSize(100)']);
  expect(await rows()).toEqual(before);
  expect((await ada.call('DELETE', `${path}/branch-7`)).status).toBe(204);
  expect((await ada.call('POST', path, { rule_name: 'one-more' })).status).toBe(201);
});

it('a protection comes at the end also when the last one has the highest priority there is', async () => {
  await cast.ada.call('POST', '/user/repos', { name: 'topmost', auto_init: true });
  const at = '/repos/ada/topmost/branch_protections';
  const highest = { rule_name: 'a', priority: 2_147_483_647 };
  expect((await cast.ada.call('POST', at, highest)).body).toMatchObject(highest);
  expect((await cast.ada.call('POST', at, { rule_name: 'b' })).body).toMatchObject({ rule_name: 'b' });
  expect((await cast.ada.call('GET', at)).items.map((one) => one['rule_name'])).toEqual(['a', 'b']);
});
