import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';
import { recordHappenings } from './happenings.ts';
import { rowsOf } from './rows-of.ts';

const scene = useForge();
let owner: Person;
let writer: Person;
let reader: Person;
let stranger: Person;
const path = '/repos/owner/tools';
beforeAll(async () => {
  [owner, writer, reader, stranger] = ['owner', 'writer', 'reader', 'stranger'].map((name) =>
    scene.person(name),
  ) as [Person, Person, Person, Person];
  for (const person of [writer, reader, stranger]) await person.call('GET', '/user');
  for (const name of ['tools', 'other']) await owner.call('POST', '/user/repos', { name });
  await owner.call('POST', '/user/repos', { name: 'hidden', private: true });
  await scene.sql.run`
    insert into :schema.collaborators (repository_id, user_id, level)
    select r.id, u.id, case login when 'writer' then 2 else 1 end from :schema.repositories r, :schema.users u
    where r.name in ('tools', 'hidden') and u.login in ('writer', 'reader')`;
  await recordHappenings(scene);
});

const stored = () => rowsOf(scene, 'milestones', 'issues', 'comments', 'told');
const milestone = async (fields: object, where = path) =>
  (await owner.call('POST', `${where}/milestones`, fields)).body;
const issue = async (fields: object = {}, where = path) =>
  (await owner.call('POST', `${where}/issues`, { title: 'An issue', ...fields })).body.number;

it.each(['0000-01-01T00:00:00Z', '9999-12-31T23:59:59-00:01', '9999-12-31T00:00:00-00:01'])(
  '%s, which no answer could tell, is refused wherever a time is given',
  async (time) => {
    const index = await issue();
    const id = (await milestone({ title: 'm', due_on: '9999-12-31T23:59:59Z' })).id;
    const before = await stored();
    for (const [method, at, fields] of [
      ['POST', '/milestones', { title: 'n', due_on: time }],
      ['PATCH', `/milestones/${id}`, { due_on: time }],
      ['POST', '/issues', { title: 'An issue', due_date: time }],
      ['PATCH', `/issues/${index}`, { due_date: time }],
      ['POST', `/issues/${index}/deadline`, { due_date: time }],
      ['POST', `/issues/${index}/times`, { time: 60, created: time }],
    ] as const)
      expect((await owner.call(method, path + at, fields)).status, at).toBe(422);
    expect(await stored()).toEqual(before);
    await owner.call('PATCH', `${path}/issues/${index}`, { milestone: id, due_date: '9999-12-31T00:00:00Z' });
    const told = await reader.call('GET', `${path}/issues/${index}`);
    expect(told.body).toMatchObject({
      due_date: '9999-12-31T23:59:59Z',
      milestone: { due_on: '9999-12-31T23:59:59Z' },
    });
    await owner.call('DELETE', `${path}/milestones/${id}`);
    await owner.call('DELETE', `${path}/issues/${index}`);
  },
);

describe('a milestone', () => {
  it('is created, shown by id and by title, edited, closed, reopened and deleted', async () => {
    const made = await writer.call('POST', `${path}/milestones`, {
      title: 'v1/beta',
      description: 'first',
      due_on: '2026-05-01T10:00:00.5+02:00',
    });
    expect(made.status).toBe(201);
    const { id } = made.body;
    expect(made.body).toEqual({
      id,
      title: 'v1/beta',
      description: 'first',
      state: 'open',
      open_issues: 0,
      closed_issues: 0,
      created_at: expect.stringMatching(/Z$/),
      updated_at: made.body['created_at'],
      closed_at: null,
      due_on: '2026-05-01T08:00:00Z',
    });
    for (const name of [id, 'v1%2Fbeta']) {
      expect((await reader.call('GET', `${path}/milestones/${name}`)).body).toEqual(made.body);
    }
    const edit = async (fields: object) =>
      (await writer.call('PATCH', `${path}/milestones/${id}`, fields)).body;
    expect(await edit({ title: 'v1', state: 'closed' })).toMatchObject({
      title: 'v1',
      description: 'first',
      state: 'closed',
      closed_at: expect.any(String),
      due_on: '2026-05-01T08:00:00Z',
    });
    expect(
      await edit({ title: ' ', description: '', state: 'open', due_on: '0001-01-01T00:00:00Z' }),
    ).toMatchObject({
      title: 'v1',
      description: '',
      state: 'open',
      closed_at: null,
      due_on: null,
    });
    expect((await writer.call('DELETE', `${path}/milestones/v1`)).status).toBe(204);
    expect((await writer.call('GET', `${path}/milestones/${id}`)).status).toBe(404);
  });

  it('is counted with its issues, whatever happens to these', async () => {
    const one = await milestone({ title: 'counted' });
    const two = await milestone({ title: 'counted too' });
    const counts = async () =>
      Promise.all(
        [one, two].map(async ({ id }) => {
          const { body } = await reader.call('GET', `${path}/milestones/${id}`);
          return [body['open_issues'], body['closed_issues']];
        }),
      );
    const edit = (number: number, fields: object) => owner.call('PATCH', `${path}/issues/${number}`, fields);
    const a = await issue({ milestone: one.id });
    const b = await issue({ milestone: one.id, closed: true });
    expect(await counts()).toEqual([
      [1, 1],
      [0, 0],
    ]);
    await edit(a, { milestone: two.id });
    expect(await counts()).toEqual([
      [0, 1],
      [1, 0],
    ]);
    await edit(b, { milestone: two.id, state: 'open' });
    expect(await counts()).toEqual([
      [0, 0],
      [2, 0],
    ]);
    await edit(a, { state: 'closed' });
    expect(await counts()).toEqual([
      [0, 0],
      [1, 1],
    ]);
    await edit(b, { milestone: 0 });
    expect(await counts()).toEqual([
      [0, 0],
      [0, 1],
    ]);
    await owner.call('DELETE', `${path}/issues/${a}`);
    expect(await counts()).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  it('is listed by state and name, what is due first in front', async () => {
    await milestone({ title: 'Later', due_on: '2027-01-01T00:00:00Z' }, '/repos/owner/other');
    await milestone({ title: 'Sooner', due_on: '2026-01-01T00:00:00Z' }, '/repos/owner/other');
    await milestone({ title: 'Some day' }, '/repos/owner/other');
    await milestone({ title: 'Past', state: 'closed' }, '/repos/owner/other');
    const titles = async (query: string) =>
      (await stranger.call('GET', `/repos/owner/other/milestones${query}`)).items.map(({ title }) => title);
    expect(await titles('')).toEqual(['Sooner', 'Later', 'Some day']);
    expect(await titles('?state=nonsense&limit=1&page=2')).toEqual(['Later']);
    expect(await titles('?state=closed')).toEqual(['Past']);
    expect(await titles('?state=all&name=OME')).toEqual(['Some day']);
    expect(await titles('?name=%25')).toEqual([]);
    expect(await titles('?page=7')).toEqual([]);
  });

  it('given to an issue stands in its answers, its timeline and its events', async () => {
    const one = await milestone({ title: 'told' });
    const number = await issue();
    const { body } = await owner.call('PATCH', `${path}/issues/${number}`, { milestone: one.id });
    expect(body['milestone']).toMatchObject({ id: one.id, title: 'told', open_issues: 1 });
    await owner.call('PATCH', `${path}/issues/${number}`, { milestone: one.id });
    await owner.call('PATCH', `${path}/issues/${number}`, { milestone: 0 });
    const id = body.id;
    const entries = await scene.sql
      .rows`select kind, details from :schema.comments where issue_id = ${id} order by id`;
    expect(entries).toEqual([
      { kind: 'milestone', details: { old_milestone: null, milestone: one.id } },
      { kind: 'milestone', details: { old_milestone: one.id, milestone: null } },
    ]);
    const events = await scene.sql.rows`
      select payload->>'action' as action from :schema.told where (payload->>'issueId')::bigint = ${id} order by id`;
    expect(events).toEqual([{ action: 'opened' }, { action: 'milestoned' }, { action: 'demilestoned' }]);
  });

  it('that is deleted leaves its issues', async () => {
    const one = await milestone({ title: 'going' });
    const number = await issue({ milestone: one.id });
    await owner.call('DELETE', `${path}/milestones/${one.id}`);
    expect((await owner.call('GET', `${path}/issues/${number}`)).body['milestone']).toBe(null);
  });

  it('of another repository is none: 404', async () => {
    const foreign = await milestone({ title: 'foreign' }, '/repos/owner/other');
    const number = await issue();
    const before = await stored();
    expect((await owner.call('GET', `${path}/milestones/${foreign.id}`)).status).toBe(404);
    expect((await owner.call('PATCH', `${path}/milestones/${foreign.id}`, { title: 'mine' })).status).toBe(
      404,
    );
    expect((await owner.call('DELETE', `${path}/milestones/foreign`)).status).toBe(404);
    expect((await owner.call('PATCH', `${path}/issues/${number}`, { milestone: foreign.id })).status).toBe(
      404,
    );
    expect((await owner.call('POST', `${path}/issues`, { title: 'x', milestone: foreign.id })).status).toBe(
      404,
    );
    expect((await owner.call('GET', `${path}/milestones/%00`)).status).toBe(404);
    expect(await stored()).toEqual(before);
  });

  it.each([
    ['no title', {}, '[Title]: Required'],
    ['a blank title', { title: '\t' }, '[Title]: Required'],
    ['a title that is too long', { title: 'x'.repeat(256) }, '[Title]: MaxSize(255)'],
    ['a date that is none', { title: 'x', due_on: 'soon' }, /^\[DueOn\]: expected a time/],
  ])('is refused with %s', async (_what, body, message) => {
    const before = await stored();
    const refused = await owner.call('POST', `${path}/milestones`, body);
    expect(refused.status).toBe(422);
    expect(refused.body.message).toMatch(message);
    expect(await stored()).toEqual(before);
  });
});

describe('who may do what with milestones', () => {
  it.each([
    ['owner', 201, 201],
    ['writer', 201, 201],
    ['reader', 403, 403],
    ['stranger', 403, 404],
  ] as const)('%s: %i in a public repository, %i in a private one', async (name, inPublic, inPrivate) => {
    const person = { owner, writer, reader, stranger }[name];
    for (const [where, status] of [
      [path, inPublic],
      ['/repos/owner/hidden', inPrivate],
    ] as const) {
      const { id } = await milestone({ title: `of ${name}` }, where);
      const before = await stored();
      const or = (good: number) => (status === 201 ? good : status);
      const one = `${where}/milestones/${id}`;
      expect((await person.call('POST', `${where}/milestones`, { title: 'x' })).status).toBe(or(201));
      expect((await person.call('PATCH', one, { title: 'x' })).status).toBe(or(200));
      expect((await person.call('DELETE', one)).status).toBe(or(204));
      if (status !== 201) expect(await stored()).toEqual(before);
      expect((await person.call('GET', `${where}/milestones`)).status).toBe(status === 404 ? 404 : 200);
    }
  });
});
