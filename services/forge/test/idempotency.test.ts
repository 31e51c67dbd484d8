import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, pushBranch, pushedRepository, useForge } from './forge.ts';

const scene = useForge({ environment: { FORGE_GIT_MAINTENANCE_INTERVAL: '50ms' } });
let ada: Person;
let bob: Person;
beforeAll(async () => {
  ada = scene.person('ada');
  bob = scene.person('bob');
  await bob.call('GET', '/user');
  const tree = await pushedRepository(ada, 'work', scene.folder);
  await pushBranch(tree, 'one', { 'one.txt': '1' });
  await pushBranch(tree, 'two', { 'two.txt': '2' });
  await ada.call('POST', '/repos/ada/work/issues', { title: 'first' });
});

const ISSUES = '/repos/ada/work/issues';
const post = (path: string, body: object, key: string, who = ada) =>
  who.call('POST', path, body, { 'idempotency-key': key });
const made = async () =>
  Promise.all([
    scene.sql.rows`select * from :schema.issues order by id`,
    scene.sql.rows`select * from :schema.comments order by id`,
    scene.sql.rows`select * from :schema.pulls order by id`,
  ]);
const keys = () => scene.sql.rows`select * from :schema.idempotency_keys order by key`;

describe.each([
  ['an issue', ISSUES, { title: 'once' }, { title: 'other' }],
  ['a comment', `${ISSUES}/1/comments`, { body: 'once' }, { body: 'other' }],
  [
    'a pull request',
    '/repos/ada/work/pulls',
    { head: 'one', base: 'main', title: 'once' },
    { head: 'two', base: 'main', title: 'once' },
  ],
])('%s made under a key', (_, path, body, otherBody) => {
  const key = `key-of-${path}`;

  it('is made once, and answered again as it was', async () => {
    const first = await post(path, body, key);
    expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([201, null]);
    const before = await made();
    const again = await post(path, body, key);
    expect([again.status, again.body, again.headers.get('idempotency-replayed')]).toEqual([
      201,
      first.body,
      'true',
    ]);
    await scene.restart();
    expect((await post(path, body, key)).body).toMatchObject({ id: first.body.id });
    expect(await made()).toEqual(before);
  });

  it('is refused with another body, and nothing changes', async () => {
    const before = [await made(), await keys()];
    const refused = await post(path, otherBody, key);
    expect([refused.status, refused.body.message]).toEqual([
      422,
      'the Idempotency-Key was used for another request',
    ]);
    expect([await made(), await keys()]).toEqual(before);
  });
});

it('two at once make one', async () => {
  const before = (await made())[0].length;
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => post(ISSUES, { title: 'together' }, 'together')),
  );
  expect(new Set(answers.map(({ status, body }) => `${status} ${body.number}`)).size).toBe(1);
  expect((await made())[0].length).toBe(before + 1);
});

it('somebody else has keys of his own, and without one everything is made', async () => {
  const mine = await post(ISSUES, { title: 'mine' }, 'shared');
  const his = await post(ISSUES, { title: 'mine' }, 'shared', bob);
  expect(his.body.number).not.toBe(mine.body.number);
  const [one, two] = [
    await ada.call('POST', ISSUES, { title: 'x' }),
    await ada.call('POST', ISSUES, { title: 'x' }),
  ];
  expect(one.body.number).not.toBe(two.body.number);
});

it('what was refused can be tried again', async () => {
  expect((await post(ISSUES, { title: 'x', milestone: 99 }, 'refused')).status).toBe(404);
  await ada.call('POST', '/repos/ada/work/milestones', { title: 'v1' });
  expect((await post(ISSUES, { title: 'x', milestone: 1 }, 'refused')).status).toBe(201);
});

it.each(['', 'x'.repeat(256), 'a b'])('a key %j is none, and nothing changes', async (key) => {
  const before = [await made(), await keys()];
  expect((await post(ISSUES, { title: 'x' }, key)).status).toBe(422);
  expect([await made(), await keys()]).toEqual(before);
});

describe.each([
  ['an issue', 'issues', { title: 'seen' }],
  ['a comment', 'issues/1/comments', { body: 'seen' }],
  ['a pull request', 'pulls', { head: 'one', base: 'main', title: 'seen' }],
])('%s', (_, what, body) => {
  it('is not answered again to who may not see it any more', async () => {
    const name = `closed-${what.replaceAll('/', '-')}`;
    const tree = await pushedRepository(ada, name, scene.folder, { private: true });
    await pushBranch(tree, 'one', { 'one.txt': '1' });
    await ada.call('POST', `/repos/ada/${name}/issues`, { title: 'first' });
    const path = `/repos/ada/${name}/${what}`;
    await ada.call('PUT', `/repos/ada/${name}/collaborators/bob`, { permission: 'write' });
    const first = await post(path, body, name, bob);
    expect([first.status, (await post(path, body, name, bob)).body]).toEqual([201, first.body]);
    await ada.call('DELETE', `/repos/ada/${name}/collaborators/bob`);
    const before = [await made(), await keys()];
    expect((await post(path, body, name, bob)).status).toBe(404);
    expect([await made(), await keys()]).toEqual(before);
    await ada.call('PUT', `/repos/ada/${name}/collaborators/bob`, { permission: 'read' });
    expect((await post(path, body, name, bob)).body).toEqual(first.body);
  });
});

it('what failed and was rolled back can be tried again', async () => {
  await scene.sql.script(`
    create function forge.fail() returns trigger language plpgsql as 'begin raise exception ''no''; end';
    create trigger fail before insert on forge.issues for each row execute function forge.fail()`);
  const before = [await made(), await keys()];
  expect((await post(ISSUES, { title: 'failed' }, 'failed')).status).toBe(500);
  expect([await made(), await keys()]).toEqual(before);
  await scene.sql.script('drop function forge.fail() cascade');
  expect((await post(ISSUES, { title: 'failed' }, 'failed')).status).toBe(201);
});

it('what failed or was refused when it was made already is not made again', async () => {
  const count = async () => (await made()).map(({ length }) => length);
  const [issues = 0, comments = 0, pulls = 0] = await count();
  await scene.sql.script('alter view forge.issue_surroundings rename to elsewhere');
  const failed = await post(ISSUES, { title: 'half' }, 'half');
  await scene.sql.script('alter view forge.elsewhere rename to issue_surroundings');
  // The pull request is made, and its poster sees none any more.
  await scene.sql.script(`
    create function forge.hide() returns trigger language plpgsql as
      'begin update forge.repositories set has_pulls = false where id = new.repository_id; return null; end';
    create trigger hide after insert on forge.pulls for each row execute function forge.hide()`);
  const wish = { head: 'two', base: 'main', title: 'half' };
  const refused = await post('/repos/ada/work/pulls', wish, 'half-pull');
  await scene.sql.script('drop function forge.hide() cascade');
  await scene.sql.run`update :schema.repositories set has_pulls = true`;
  expect([failed.status, refused.status]).toEqual([500, 404]);
  // The timeline of the pull request begins with its commits.
  expect(await count()).toEqual([issues + 2, comments + 1, pulls + 1]);
  const before = [await made(), await keys()];
  for (const [path, body, key] of [
    [ISSUES, { title: 'half' }, 'half'],
    ['/repos/ada/work/pulls', wish, 'half-pull'],
  ] as const) {
    const again = await post(path, body, key);
    expect([again.status, again.body.message]).toEqual([
      409,
      'the first request under this Idempotency-Key did not end; look whether it was done',
    ]);
  }
  expect([await made(), await keys()]).toEqual(before);
});

it('what a crash cut off is not done again: nobody knows how far it got', async () => {
  await post(ISSUES, { title: 'cut off' }, 'cut');
  await scene.sql.run`update :schema.idempotency_keys set status = null, answer = null where key = 'cut'`;
  const before = [await made(), await keys()];
  expect((await post(ISSUES, { title: 'cut off' }, 'cut')).status).toBe(409);
  expect((await post(ISSUES, { title: 'other' }, 'cut')).status).toBe(422);
  expect([await made(), await keys()]).toEqual(before);
});

it('after a day it is another request, and old keys go away', async () => {
  const first = await post(ISSUES, { title: 'daily' }, 'daily');
  await scene.sql.run`update :schema.idempotency_keys set created_at = created_at - interval '25 hours'`;
  const next = await post(ISSUES, { title: 'daily' }, 'daily');
  expect(next.status).toBe(201);
  expect(next.body.number).not.toBe(first.body.number);
  await expect.poll(keys).toHaveLength(1);
});
