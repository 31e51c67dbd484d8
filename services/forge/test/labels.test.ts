import { beforeAll, describe, expect, it } from 'vitest';
import { type Body, type Person, useForge } from './forge.ts';
import { recordHappenings } from './happenings.ts';
import { rowsOf } from './rows-of.ts';

const scene = useForge();
let owner: Person;
let admin: Person;
let writer: Person;
let reader: Person;
let stranger: Person;
const path = '/repos/owner/tools';
beforeAll(async () => {
  [owner, admin, writer, reader, stranger] = ['owner', 'keeper', 'writer', 'reader', 'stranger'].map((name) =>
    scene.person(name),
  ) as [Person, Person, Person, Person, Person];
  for (const person of [admin, writer, reader, stranger]) await person.call('GET', '/user');
  for (const name of ['tools', 'other']) await owner.call('POST', '/user/repos', { name });
  await owner.call('POST', '/user/repos', { name: 'hidden', private: true });
  await recordHappenings(scene);
  for (const [login, level] of [
    ['keeper', 3],
    ['writer', 2],
    ['reader', 1],
  ] as const) {
    await scene.sql.run`
      insert into :schema.collaborators (repository_id, user_id, level)
      select r.id, u.id, ${level} from :schema.repositories r, :schema.users u
      where r.name in ('tools', 'hidden') and u.login = ${login}`;
  }
});

/** Everything these tests could change, to see that a refusal changed nothing. */
const stored = () => rowsOf(scene, 'labels', 'issue_labels', 'issues(id, updated_at)', 'comments', 'told');
const label = async (fields: object, where = path) =>
  (await owner.call('POST', `${where}/labels`, { color: '#ee0701', ...fields })).body;
const issue = async (where = path) =>
  (await owner.call('POST', `${where}/issues`, { title: 'An issue' })).body.number;
const names = (items: Body[]) => items.map((item) => item['name']);
const timeline = (number: number) =>
  scene.sql.rows<{ kind: string; body: string; details: object }>`
    select c.kind, c.body, c.details from :schema.comments c join :schema.issues i on i.id = c.issue_id
      join :schema.repositories r on r.id = i.repository_id
    where r.name = 'tools' and i.number = ${number} order by c.id`;
const events = (number: number) =>
  scene.sql.rows<{ action: string }>`
    select payload->>'action' as action from :schema.told t
      join :schema.issues i on i.id = (t.payload->>'issueId')::bigint
      join :schema.repositories r on r.id = i.repository_id
    where r.name = 'tools' and i.number = ${number} order by t.id`;

describe('a label of a repository', () => {
  it('is created, shown, edited and deleted', async () => {
    const made = await writer.call('POST', `${path}/labels`, {
      name: ' bug ',
      color: '#EE0701',
      description: 'broken',
    });
    expect(made.status).toBe(201);
    const { id } = made.body;
    expect(made.body).toEqual({
      id,
      name: 'bug',
      color: 'ee0701',
      description: 'broken',
      url: `${scene.address}/api/v1/repos/owner/tools/labels/${id}`,
      exclusive: false,
      is_archived: false,
    });
    expect((await reader.call('GET', `${path}/labels/${id}`)).body).toEqual(made.body);
    const edited = await writer.call('PATCH', `${path}/labels/${id}`, { color: 'abc', is_archived: true });
    expect(edited.status).toBe(200);
    expect(edited.body).toEqual({ ...made.body, color: 'aabbcc', is_archived: true });
    expect(
      (await writer.call('PATCH', `${path}/labels/${id}`, { name: '', description: '' })).body,
    ).toMatchObject({
      name: 'bug',
      description: '',
      is_archived: true,
    });
    expect((await writer.call('DELETE', `${path}/labels/${id}`)).status).toBe(204);
    expect((await writer.call('GET', `${path}/labels/${id}`)).status).toBe(404);
    expect((await writer.call('DELETE', `${path}/labels/${id}`)).status).toBe(404);
  });

  it('is exclusive only with a scope in its name', async () => {
    expect(await label({ name: 'plain', exclusive: true })).toMatchObject({ exclusive: false });
    const scoped = await label({ name: 'size/big', exclusive: true });
    expect(scoped).toMatchObject({ exclusive: true });
    const renamed = await owner.call('PATCH', `${path}/labels/${scoped.id}`, { name: 'big' });
    expect(renamed.body).toMatchObject({ exclusive: false });
  });

  it('is listed by name, in pages', async () => {
    for (const name of ['Zebra', 'ant', 'Bee']) await label({ name }, '/repos/owner/other');
    const all = await reader.call('GET', '/repos/owner/other/labels');
    expect(names(all.items)).toEqual(['ant', 'Bee', 'Zebra']);
    const second = await reader.call('GET', '/repos/owner/other/labels?limit=2&page=2');
    expect(names(second.items)).toEqual(['Zebra']);
    expect(second.headers.get('x-total-count')).toBe('3');
    expect(second.headers.get('link')).toContain('rel="prev"');
    const beyond = await reader.call('GET', '/repos/owner/other/labels?page=99');
    expect([beyond.items, beyond.headers.get('x-total-count')]).toEqual([[], '3']);
  });

  it.each([
    ['no name', { color: 'fff' }, '[Name]: Required'],
    ['a blank name', { name: ' ', color: 'fff' }, '[Name]: Required'],
    ['a name that is too long', { name: 'x'.repeat(256), color: 'fff' }, '[Name]: MaxSize(255)'],
    ['NUL in the name', { name: 'a\0b', color: 'fff' }, '[Name]: NUL is not allowed'],
    ['no colour', { name: 'x' }, '[Color]: Required'],
    ['a colour that is none', { name: 'x', color: '#12345g' }, 'bad color value: #12345g'],
  ])('is refused with %s', async (_what, body, message) => {
    const before = await stored();
    const refused = await owner.call('POST', `${path}/labels`, body);
    expect([refused.status, refused.body.message]).toEqual([422, message]);
    expect(await stored()).toEqual(before);
  });

  it('of another repository is none of this one', async () => {
    const { id } = await label({ name: 'foreign' }, '/repos/owner/other');
    const before = await stored();
    expect((await owner.call('GET', `${path}/labels/${id}`)).status).toBe(404);
    expect((await owner.call('PATCH', `${path}/labels/${id}`, { name: 'mine' })).status).toBe(404);
    expect((await owner.call('DELETE', `${path}/labels/${id}`)).status).toBe(404);
    expect((await owner.call('GET', `${path}/labels/${'9'.repeat(30)}`)).status).toBe(404);
    expect(await stored()).toEqual(before);
  });

  it('that is deleted is gone from its issues, and not found by its name', async () => {
    const { id } = await label({ name: 'short-lived' });
    const number = await issue();
    await owner.call('PUT', `${path}/issues/${number}/labels`, { labels: [id] });
    await owner.call('DELETE', `${path}/labels/${id}`);
    expect((await owner.call('GET', `${path}/issues/${number}`)).body['labels']).toEqual([]);
  });
});

describe('labels of an organization', () => {
  beforeAll(async () => {
    await owner.call('POST', '/orgs', { username: 'guild' });
    await owner.call('POST', '/orgs/guild/repos', { name: 'works' });
  });

  it('belong to its owners, and are for all issues of its repositories', async () => {
    const made = await owner.call('POST', '/orgs/guild/labels', { name: 'shared', color: '00ff00' });
    expect(made.status).toBe(201);
    const { id } = made.body;
    expect(made.body['url']).toBe(`${scene.address}/api/v1/orgs/guild/labels/${id}`);
    expect(names((await stranger.call('GET', '/orgs/guild/labels')).items)).toEqual(['shared']);
    const number = await issue('/repos/guild/works');
    const put = await owner.call('PUT', `/repos/guild/works/issues/${number}/labels`, { labels: ['SHARED'] });
    expect(put.items).toEqual([made.body]);
    expect(names((await owner.call('GET', '/repos/guild/works/labels')).items)).toEqual([]);
    expect((await owner.call('GET', '/repos/guild/works/issues?labels=shared')).items).toHaveLength(1);
    expect((await owner.call('PATCH', `/orgs/guild/labels/${id}`, { name: 'common' })).body).toMatchObject({
      name: 'common',
    });
    const before = await stored();
    for (const [method, address, body] of [
      ['POST', '/orgs/guild/labels', { name: 'x', color: 'fff' }],
      ['PATCH', `/orgs/guild/labels/${id}`, { name: 'x' }],
      ['DELETE', `/orgs/guild/labels/${id}`, undefined],
    ] as const) {
      expect((await stranger.call(method, address, body)).status).toBe(403);
    }
    expect((await owner.call('GET', `/orgs/owner/labels`)).status).toBe(404);
    expect(await stored()).toEqual(before);
    expect((await owner.call('DELETE', `/orgs/guild/labels/${id}`)).status).toBe(204);
  });
});

describe('labels of an issue', () => {
  it('are added, replaced, taken away and cleared, by ids and names mixed', async () => {
    const one = await label({ name: 'one' });
    await label({ name: 'Two' });
    const three = await label({ name: 'three' });
    const number = await issue();
    const at = `${path}/issues/${number}/labels`;
    const added = await writer.call('POST', at, { labels: [one.id, 'two'] });
    expect([added.status, names(added.items)]).toEqual([200, ['one', 'Two']]);
    expect(names((await reader.call('GET', at)).items)).toEqual(['one', 'Two']);
    expect(names((await writer.call('PUT', at, { labels: [three.id, 'one'] })).items)).toEqual([
      'one',
      'three',
    ]);
    expect((await writer.call('DELETE', `${at}/${one.id}`)).status).toBe(204);
    expect((await writer.call('DELETE', `${at}/${one.id}`)).status).toBe(204);
    expect((await writer.call('DELETE', `${at}/THREE`)).status).toBe(204);
    await writer.call('POST', at, { labels: ['one'] });
    expect((await writer.call('DELETE', at)).status).toBe(204);
    expect((await reader.call('GET', at)).items).toEqual([]);
    const entries = (await timeline(number)).map(({ body, details }) => [
      body,
      (details as { label: number }).label,
    ]);
    expect(entries.slice(0, 4)).toEqual([
      ['1', one.id],
      ['1', expect.any(Number)],
      ['1', three.id],
      ['', expect.any(Number)],
    ]);
    expect((await timeline(number)).every(({ kind }) => kind === 'label')).toBe(true);
    expect((await events(number)).map(({ action }) => action)).toEqual([
      'opened',
      'label_updated',
      'label_updated',
      'label_updated',
      'label_updated',
      'label_updated',
      'label_cleared',
    ]);
  });

  it('of an exclusive scope take each other’s place', async () => {
    await label({ name: 'priority/low', exclusive: true });
    await label({ name: 'priority/high', exclusive: true });
    const number = await issue();
    const at = `${path}/issues/${number}/labels`;
    await owner.call('POST', at, { labels: ['priority/low'] });
    expect(names((await owner.call('POST', at, { labels: ['priority/high'] })).items)).toEqual([
      'priority/high',
    ]);
    const { body } = await owner.call('POST', `${path}/issues`, { title: 'x', labels: [] });
    const both = await owner.call('PUT', `${path}/issues/${body.number}/labels`, {
      labels: ['priority/high', 'priority/low'],
    });
    expect(names(both.items)).toEqual(['priority/low']);
  });

  it('stay when another is taken away, also where they became exclusive meanwhile', async () => {
    const [low, high, other] = [
      await label({ name: 'size/low' }),
      await label({ name: 'size/high' }),
      await label({ name: 'sized' }),
    ];
    const number = await issue();
    const at = `${path}/issues/${number}/labels`;
    await owner.call('POST', at, { labels: [low.id, high.id, other.id] });
    for (const { id } of [low, high])
      expect((await owner.call('PATCH', `${path}/labels/${id}`, { exclusive: true })).status).toBe(200);
    expect((await owner.call('DELETE', `${at}/${other.id}`)).status).toBe(204);
    expect(names((await reader.call('GET', at)).items)).toEqual(['size/high', 'size/low']);
    expect((await timeline(number)).map(({ body }) => body)).toEqual(['1', '1', '1', '']);
    expect((await owner.call('DELETE', `${at}/${low.id}`)).status).toBe(204);
    expect(names((await reader.call('GET', at)).items)).toEqual(['size/high']);
  });

  it('that are unknown or of another repository are dropped', async () => {
    const { id } = await label({ name: 'elsewhere' }, '/repos/owner/other');
    const number = await issue();
    const at = `${path}/issues/${number}/labels`;
    const before = await stored();
    const reply = await owner.call('POST', at, { labels: [id, 999_999_999, -1, 'nobody-has-it'] });
    expect([reply.status, reply.items]).toEqual([200, []]);
    expect((await owner.call('DELETE', `${at}/${id}`)).status).toBe(422);
    expect(await stored()).toEqual(before);
  });

  it('are given on creation by writers only', async () => {
    const { id } = await label({ name: 'given' });
    const wanted = { title: 'Labelled', labels: [id] };
    expect((await writer.call('POST', `${path}/issues`, wanted)).body['labels']).toMatchObject([
      { name: 'given' },
    ]);
    const byReader = await reader.call('POST', `${path}/issues`, wanted);
    expect([byReader.status, byReader.body['labels']]).toEqual([201, []]);
  });
});

describe('who may do what with labels', () => {
  const everybody = ['owner', 'admin', 'writer', 'reader', 'stranger', 'anonymous'] as const;
  const who = (name: (typeof everybody)[number]) =>
    ({ owner, admin, writer, reader, stranger, anonymous: undefined })[name];
  const call = async (name: (typeof everybody)[number], method: string, at: string, body?: object) =>
    (
      await (who(name)?.call(method, at, body) ??
        fetch(`${scene.address}/api/v1${at}`, {
          method,
          ...(body === undefined
            ? {}
            : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
        }))
    ).status;

  it.each([
    // In a public repository, and in a private one.
    ['owner', 201, 201],
    ['admin', 201, 201],
    ['writer', 201, 201],
    ['reader', 403, 403],
    ['stranger', 403, 404],
    ['anonymous', 401, 401],
  ] as const)('%s: %i, %i', async (name, inPublic, inPrivate) => {
    const open = await issue();
    const hidden = await issue('/repos/owner/hidden');
    for (const [where, number, status] of [
      [path, open, inPublic],
      ['/repos/owner/hidden', hidden, inPrivate],
    ] as const) {
      const { id } = await label({ name: `of ${name}` }, where);
      const before = await stored();
      const refused = status !== 201;
      const or = (good: number) => (refused ? status : good);
      expect(await call(name, 'POST', `${where}/labels`, { name: 'x', color: 'fff' })).toBe(or(201));
      expect(await call(name, 'PATCH', `${where}/labels/${id}`, { description: 'x' })).toBe(or(200));
      for (const [method, good] of [
        ['POST', 200],
        ['PUT', 200],
        ['DELETE', 204],
      ] as const) {
        expect(await call(name, method, `${where}/issues/${number}/labels`, { labels: [id] })).toBe(or(good));
      }
      expect(await call(name, 'DELETE', `${where}/issues/${number}/labels/${id}`)).toBe(or(204));
      expect(await call(name, 'DELETE', `${where}/labels/${id}`)).toBe(or(204));
      if (refused) expect(await stored()).toEqual(before);
      const mayRead = status === 201 || status === 403;
      expect(await call(name, 'GET', `${where}/labels`)).toBe(mayRead ? 200 : status);
    }
  });

  it('nobody in an archived repository', async () => {
    await owner.call('POST', '/user/repos', { name: 'old' });
    const { id } = await label({ name: 'kept' }, '/repos/owner/old');
    const number = await issue('/repos/owner/old');
    await scene.sql.run`update :schema.repositories set archived = true where name = 'old'`;
    const before = await stored();
    expect(await call('owner', 'POST', '/repos/owner/old/labels', { name: 'x', color: 'fff' })).toBe(423);
    expect(await call('owner', 'PATCH', `/repos/owner/old/labels/${id}`, { name: 'x' })).toBe(423);
    expect(await call('owner', 'DELETE', `/repos/owner/old/labels/${id}`)).toBe(423);
    expect(await call('owner', 'PUT', `/repos/owner/old/issues/${number}/labels`, { labels: [id] })).toBe(
      423,
    );
    expect(await stored()).toEqual(before);
  });
});
