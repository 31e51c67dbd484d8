import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';
import { recordHappenings } from './happenings.ts';
import { rowsOf } from './rows-of.ts';

const scene = useForge();
let ada: Person;
let keeper: Person;
let writer: Person;
let bob: Person;
let eve: Person;
const path = '/repos/ada/tools/issues';
beforeAll(async () => {
  [ada, keeper, writer, bob, eve] = ['ada', 'keeper', 'writer', 'bob', 'eve'].map((name) =>
    scene.person(name),
  ) as [Person, Person, Person, Person, Person];
  for (const person of [keeper, writer, bob, eve]) await person.call('GET', '/user');
  await ada.call('POST', '/user/repos', { name: 'tools' });
  await scene.sql.run`
    insert into :schema.collaborators (repository_id, user_id, level)
    select r.id, u.id, case login when 'keeper' then 3 else 2 end from :schema.repositories r, :schema.users u
    where login in ('keeper', 'writer')`;
  await recordHappenings(scene);
});

const issue = async (fields: object = {}, who = ada) =>
  (await who.call('POST', path, { title: 'Title', body: 'body', ...fields })).body;
const patch = (number: number, body: unknown, who = ada) => who.call('PATCH', `${path}/${number}`, body);
const stored = () =>
  rowsOf(
    scene,
    'issues',
    'issue_assignees',
    'issue_labels',
    'comments',
    'repositories(id, last_number, issues, closed_issues)',
    'told',
  );
const timeline = (id: number) =>
  scene.sql.rows`select kind, body, details from :schema.comments where issue_id = ${id} order by id`;
const told = (id: number) =>
  scene.sql.rows`
    select payload->>'action' as action, payload->'changes' as changes, (payload->>'actorId')::int as actor,
      (payload->>'assigneeId')::int as assignee
    from :schema.told where (payload->>'issueId')::bigint = ${id} order by id`;
const refused = async (status: number, message: string, work: () => ReturnType<Person['call']>) => {
  const before = await stored();
  const reply = await work();
  expect([reply.status, reply.body.message]).toEqual([status, message]);
  expect(await stored()).toEqual(before);
};

describe('what an edit tells', () => {
  it('stands in the timeline and is announced, each change once', async () => {
    const { id, number } = await issue({}, bob);
    const bobId = (await bob.call('GET', '/user')).body.id;
    const adaId = (await ada.call('GET', '/user')).body.id;
    await patch(number, { title: 'New', body: 'text', ref: 'main' }, bob);
    await patch(number, { due_date: '2026-03-01T00:00:00Z', assignees: ['ada', 'writer'] });
    await patch(number, { due_date: '2026-04-01T00:00:00Z', assignees: ['writer'], state: 'closed' });
    await patch(number, { unset_due_date: true, state: 'open' });
    await patch(number, { title: 'New', body: 'text', state: 'open', assignees: ['writer'] });
    expect(await timeline(id)).toEqual([
      { kind: 'change_title', body: '', details: { old_title: 'Title', new_title: 'New' } },
      { kind: 'change_issue_ref', body: '', details: { old_ref: '', new_ref: 'main' } },
      { kind: 'added_deadline', body: '2026-03-01', details: {} },
      { kind: 'assignees', body: '', details: { assignee: adaId, removed_assignee: false } },
      { kind: 'assignees', body: '', details: { assignee: expect.any(Number), removed_assignee: false } },
      { kind: 'modified_deadline', body: '2026-04-01|2026-03-01', details: {} },
      { kind: 'close', body: '', details: {} },
      { kind: 'assignees', body: '', details: { assignee: adaId, removed_assignee: true } },
      { kind: 'removed_deadline', body: '2026-04-01', details: {} },
      { kind: 'reopen', body: '', details: {} },
    ]);
    const changes = { title: { from: 'Title' }, body: { from: 'body' }, ref: { from: '' } };
    const event = (action: string, actor: number) => ({ action, changes: null, actor, assignee: null });
    expect(await told(id)).toEqual([
      event('opened', bobId),
      { ...event('edited', bobId), changes },
      { ...event('assigned', adaId), assignee: adaId },
      { ...event('assigned', adaId), assignee: expect.any(Number) },
      event('closed', adaId),
      { ...event('unassigned', adaId), assignee: adaId },
      event('reopened', adaId),
    ]);
  });
});

describe('what an issue is created with', () => {
  const given = async () => {
    const name = `label ${Math.random()}`;
    const label = await ada.call('POST', '/repos/ada/tools/labels', { name, color: 'ff0000' });
    const milestone = await ada.call('POST', '/repos/ada/tools/milestones', { title: 'first' });
    return { labels: [label.body.id], milestone: milestone.body.id, assignees: ['writer', 'ada'] };
  };

  it('is told as if it had come later, one assignee at a time', async () => {
    const { labels, milestone, assignees } = await given();
    const { id } = await issue({ labels, milestone, assignees, closed: true });
    const [writerId, adaId] = await Promise.all(
      [writer, ada].map(async (who) => (await who.call('GET', '/user')).body.id),
    );
    expect(await timeline(id)).toEqual([
      { kind: 'milestone', body: '', details: { old_milestone: null, milestone } },
      { kind: 'label', body: '1', details: { label: labels[0] } },
      { kind: 'assignees', body: '', details: { assignee: writerId, removed_assignee: false } },
      { kind: 'assignees', body: '', details: { assignee: adaId, removed_assignee: false } },
      { kind: 'close', body: '', details: {} },
    ]);
    const event = (action: string, assignee: number | null = null) => ({
      action,
      changes: null,
      actor: adaId,
      assignee,
    });
    expect(await told(id)).toEqual([
      event('opened'),
      event('label_updated'),
      event('milestoned'),
      event('assigned', writerId),
      event('assigned', adaId),
      event('closed'),
    ]);
  });

  it('by somebody who may not give it is dropped, and leaves nothing', async () => {
    const { id } = await issue(await given(), bob);
    expect(await timeline(id)).toEqual([]);
    expect(await told(id)).toMatchObject([{ action: 'opened' }]);
  });
});

describe('what is deleted while it is given', () => {
  /** Makes one to be given, and says how requests name it and who deletes it where. */
  const things = {
    label: async () => {
      const fields = { name: `label ${Math.random()}`, color: 'ff0000' };
      const { id } = (await ada.call('POST', '/repos/ada/tools/labels', fields)).body;
      return { given: { labels: [id] }, remove: () => ada.call('DELETE', `/repos/ada/tools/labels/${id}`) };
    },
    milestone: async () => {
      const { id } = (await ada.call('POST', '/repos/ada/tools/milestones', { title: 'going' })).body;
      return {
        given: { milestone: id },
        remove: () => ada.call('DELETE', `/repos/ada/tools/milestones/${id}`),
      };
    },
    assignee: async () => {
      const name = `going-${Math.random().toString(36).slice(2)}`;
      await scene.person(name).call('GET', '/user');
      await ada.call('PUT', `/repos/ada/tools/collaborators/${name}`, { permission: 'write' });
      const root = scene.person('root', { role: 'service_role' });
      return { given: { assignees: [name] }, remove: () => root.call('DELETE', `/admin/users/${name}`) };
    },
  };
  const TABLES = { label: 'labels', milestone: 'milestones', assignee: 'users' } as const;

  it.each([
    ['label', 'created'],
    ['milestone', 'created'],
    ['assignee', 'created'],
    ['label', 'edited'],
    ['milestone', 'edited'],
    ['assignee', 'edited'],
  ] as const)('is left out: %s of an issue that is %s', async (what, how) => {
    const { number } = await issue();
    const { given, remove } = await things[what]();
    // The deletion commits when the request has looked the thing up, and waits for it to write.
    await scene.sql.script(`
      create function forge.dawdle() returns trigger language plpgsql as 'begin perform pg_sleep(1); return old; end';
      create trigger dawdle after delete on forge.${TABLES[what]} for each row execute function forge.dawdle()`);
    const removing = remove();
    await expect
      .poll(
        () =>
          scene.sql
            .rows`select 1 from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`,
      )
      .toHaveLength(1);
    const giving = how === 'edited' ? patch(number, given) : ada.call('POST', path, { title: 'T', ...given });
    const [removed, { status, body, text }] = await Promise.all([removing, giving]);
    await scene.sql.script(`drop trigger dawdle on forge.${TABLES[what]}; drop function forge.dawdle()`);
    expect([removed.status, status, text]).toEqual([204, 201, expect.anything()]);
    expect(body).toMatchObject({ labels: [], milestone: null, assignees: [] });
    const shown = (await ada.call('GET', `${path}/${body.number}`)).body;
    expect(shown).toMatchObject({ labels: [], milestone: null, assignees: [] });
  });
});

describe('the version of the content', () => {
  it('grows with title and body, and refuses who did not see the last one: 409', async () => {
    const { number } = await issue();
    expect((await patch(number, { title: 'A', content_version: 0 })).body['content_version']).toBe(1);
    expect((await patch(number, { due_date: '2026-03-01T00:00:00Z' })).body['content_version']).toBe(1);
    expect((await patch(number, { body: 'B', content_version: 1 })).body['content_version']).toBe(2);
    await refused(409, 'the content was changed by somebody else meanwhile', () =>
      patch(number, { title: 'C', state: 'closed', content_version: 1 }),
    );
  });

  it('of two edits at once one wins', async () => {
    const { number } = await issue();
    const edits = ['x', 'y', 'z'].map((title) => patch(number, { title, content_version: 0 }));
    expect((await Promise.all(edits)).map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  });
});

describe('the deadline endpoint', () => {
  it('sets the end of the day in the zone of the value, and removes with null', async () => {
    const { id, number } = await issue();
    const set = (body: unknown) => writer.call('POST', `${path}/${number}/deadline`, body);
    const first = await set({ due_date: '2026-03-01T01:00:00+09:00' });
    expect([first.status, first.body]).toEqual([201, { due_date: '2026-03-01T14:59:59Z' }]);
    expect((await set({ Deadline: '2026-03-02T01:00:00Z' })).body).toEqual({
      due_date: '2026-03-02T23:59:59Z',
    });
    const none = await set({ due_date: null });
    expect([none.status, none.body]).toEqual([201, { due_date: null }]);
    await set({ due_date: '2026-03-02T01:00:00Z' });
    expect((await set({})).body).toEqual({ due_date: null });
    expect((await timeline(id)).map((entry) => (entry as { kind: string }).kind)).toEqual([
      'added_deadline',
      'modified_deadline',
      'removed_deadline',
      'added_deadline',
      'removed_deadline',
    ]);
  });

  it('is for writers only, the poster is none: 403', async () => {
    const { number } = await issue({}, bob);
    const body = { due_date: '2026-03-01T00:00:00Z' };
    for (const who of [bob, eve]) {
      await refused(403, 'Not repo writer', () => who.call('POST', `${path}/${number}/deadline`, body));
    }
    await refused(404, "The target couldn't be found.", () => ada.call('POST', `${path}/999/deadline`, body));
    await refused(422, '[Deadline]: expected a time such as 2026-01-31T00:00:00Z', () =>
      ada.call('POST', `${path}/${number}/deadline`, { due_date: 'tomorrow' }),
    );
  });
});

describe('assignees', () => {
  it('are added and taken away one by one', async () => {
    const { number } = await issue();
    const at = `${path}/${number}/assignees`;
    const logins = (reply: { body: object }) =>
      (reply.body as { assignees: { login: string }[] }).assignees.map(({ login }) => login);
    const added = await writer.call('POST', at, { assignees: ['ADA', 'writer'] });
    expect([added.status, logins(added)]).toEqual([201, ['ada', 'writer']]);
    expect(logins(await ada.call('POST', at, { assignees: ['keeper', 'ada'] }))).toEqual([
      'ada',
      'writer',
      'keeper',
    ]);
    const removed = await ada.call('DELETE', at, { assignees: ['ada', 'bob'] });
    expect([removed.status, logins(removed)]).toEqual([200, ['writer', 'keeper']]);
    expect((await eve.call('GET', `${at}/writer`)).status).toBe(204);
    expect((await eve.call('GET', `${at}/bob`)).status).toBe(404);
    expect((await eve.call('GET', `${at}/nobody`)).status).toBe(404);
  });

  it('are refused: unknown, without access, by others than writers', async () => {
    const { number } = await issue();
    const at = `${path}/${number}/assignees`;
    const unknown = 'Assignee does not exist: [name: user does not exist [uid: 0, name: nobody, keyid: 0]]';
    await refused(422, unknown, () => ada.call('POST', at, { assignees: ['ada', 'nobody'] }));
    await refused(422, unknown, () => ada.call('DELETE', at, { assignees: ['nobody'] }));
    const { id } = (await bob.call('GET', '/user')).body;
    const message = `user doesn't have access to repo [user_id: ${id}, repo_name: tools]`;
    await refused(422, message, () => ada.call('POST', at, { assignees: ['bob'] }));
    await refused(403, 'Not repo writer', () => bob.call('POST', at, { assignees: ['ada'] }));
    await refused(403, 'Not repo writer', () => eve.call('DELETE', at, { assignees: ['ada'] }));
    await refused(404, "The target couldn't be found.", () => ada.call('POST', `${path}/999/assignees`, {}));
  });
});

describe('deleting an issue', () => {
  it('is for administrators of the repository; counters follow, the number stays taken', async () => {
    const { id, number } = await issue({ closed: true }, bob);
    for (const who of [bob, writer, eve]) {
      await refused(403, 'user should be an owner or a collaborator with admin write of a repository', () =>
        who.call('DELETE', `${path}/${number}`),
      );
    }
    const counters = () =>
      scene.sql.row<{ issues: number; closed_issues: number; last_number: number }>`
        select issues, closed_issues, last_number from :schema.repositories where name = 'tools'`;
    const before = await counters();
    expect((await keeper.call('DELETE', `${path}/${number}`)).status).toBe(204);
    expect(await counters()).toEqual({
      issues: (before?.issues ?? 0) - 1,
      closed_issues: (before?.closed_issues ?? 0) - 1,
      last_number: before?.last_number,
    });
    expect((await ada.call('GET', `${path}/${number}`)).status).toBe(404);
    expect((await told(id)).at(-1)).toMatchObject({ action: 'deleted' });
    expect((await issue()).number).toBe(number + 1);
    expect((await keeper.call('DELETE', `${path}/${number}`)).status).toBe(404);
  });
});
