import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';

const scene = useForge();
let ada: Person;
let bob: Person;
beforeAll(async () => {
  ada = scene.person('ada');
  bob = scene.person('bob');
  await bob.call('GET', '/user');
  await ada.call('POST', '/user/repos', { name: 'tools' });
});

const path = '/repos/ada/tools/issues';
const post = (body: object, who = ada) => who.call('POST', path, body);
const patch = (number: number, body: unknown, who = ada) => who.call('PATCH', `${path}/${number}`, body);
const show = async (number: number) => (await ada.call('GET', `${path}/${number}`)).body;
/** Everything about issues that is stored, to see that a refusal changed nothing. */
const stored = () =>
  rowsOf(scene, 'issues', 'issue_assignees', 'repositories(id, last_number, issues, closed_issues)');

describe('an issue', () => {
  it('has exactly the members of the contract', async () => {
    const { status, body } = await post({
      title: 'First',
      body: 'words',
      labels: [7],
      milestone: 0,
      unknown: 1,
    });
    expect(status).toBe(201);
    const user = (await ada.call('GET', '/user')).body;
    expect(body).toEqual({
      id: body.id,
      url: `${scene.address}/api/v1/repos/ada/tools/issues/1`,
      html_url: `${scene.address}/ada/tools/issues/1`,
      number: 1,
      user,
      original_author: '',
      original_author_id: 0,
      title: 'First',
      body: 'words',
      ref: '',
      assets: [],
      labels: [],
      milestone: null,
      assignee: null,
      assignees: [],
      state: 'open',
      is_locked: false,
      comments: 0,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      updated_at: body['created_at'],
      closed_at: null,
      due_date: null,
      pull_request: null,
      repository: { id: expect.any(Number), name: 'tools', owner: 'ada', full_name: 'ada/tools' },
      pin_order: 0,
      projects: [],
      content_version: 0,
      time_estimate: 0,
    });
    expect(await show(1)).toEqual(body);
  });

  it('may be created by everybody who reads; deadline and assignees count for writers only', async () => {
    const wanted = { title: 'By Bob', due_date: '2026-01-31T00:00:00Z', assignees: ['ada'] };
    const byBob = await post(wanted, bob);
    expect(byBob.status).toBe(201);
    expect(byBob.body).toMatchObject({
      user: { login: 'bob' },
      due_date: null,
      assignees: [],
      assignee: null,
    });
    const byAda = await post({ ...wanted, assignee: 'ADA' });
    expect(byAda.body).toMatchObject({
      due_date: '2026-01-31T23:59:59Z',
      assignee: { login: 'ada' },
      assignees: [{ login: 'ada' }],
    });
  });

  it('with an unknown milestone is refused to a writer, and made without it for a reader', async () => {
    const before = await stored();
    const refused = await post({ title: 'Planned', milestone: 9 });
    expect(refused.status).toBe(404);
    expect(refused.body.message).toBe('milestone does not exist [id: 9]');
    expect(await stored()).toEqual(before);
    expect((await post({ title: 'Planned', milestone: 9 }, bob)).status).toBe(201);
  });

  it('can be created closed', async () => {
    const { body } = await post({ title: 'Done already', closed: true });
    expect(body).toMatchObject({ state: 'closed', closed_at: body['created_at'] });
  });

  it('takes keys in any case, and the words of the contract', async () => {
    const { body } = await post({ Title: 'Keys', BODY: 'b', Deadline: '2026-05-06T07:08:09+02:00' });
    expect(body).toMatchObject({ title: 'Keys', body: 'b', due_date: '2026-05-06T21:59:59Z' });
  });

  it.each([
    ['no title', {}, '[Title]: Required'],
    ['a blank title', { title: '  ' }, '[Title]: Required'],
    ['null as title', { title: null }, '[Title]: Required'],
    ['a title that is too long', { title: 'x'.repeat(256) }, '[Title]: MaxSize(255)'],
    ['a title of another type', { title: ['a'] }, '[Title]: Invalid input: expected string, received array'],
    [
      'a date without time',
      { title: 't', due_date: '2026-01-31' },
      '[Deadline]: expected a time such as 2026-01-31T00:00:00Z',
    ],
    [
      'labels that are no numbers',
      { title: 't', labels: ['x'] },
      '[Labels.0]: Invalid input: expected number, received string',
    ],
    [
      'an assignee nobody knows',
      { title: 't', assignee: 'nobody' },
      'Assignee does not exist: [name: user does not exist [uid: 0, name: nobody, keyid: 0]]',
    ],
    [
      'an assignee without write access',
      { title: 't', assignees: ['bob'] },
      /^user doesn't have access to repo \[user_id: \d+, repo_name: tools\]$/,
    ],
  ])('is refused with %s, and nothing changes', async (_what, body, message) => {
    const before = await stored();
    const refused = await post(body);
    expect(refused.status).toBe(422);
    if (message instanceof RegExp) expect(refused.body.message).toMatch(message);
    else expect(refused.body.message).toBe(message);
    expect(await stored()).toEqual(before);
  });

  it('is 404 when there is none, the number is none, or the repository is hidden', async () => {
    await ada.call('POST', '/user/repos', { name: 'hidden', private: true });
    await ada.call('POST', '/repos/ada/hidden/issues', { title: 'secret' });
    for (const missing of [
      `${path}/999`,
      `${path}/abc`,
      `${path}/0`,
      `${path}/1%00`,
      '/repos/ada/none/issues/1',
    ]) {
      expect((await ada.call('GET', missing)).status).toBe(404);
    }
    expect((await bob.call('GET', '/repos/ada/hidden/issues/1')).status).toBe(404);
    expect((await bob.call('GET', '/repos/ada/hidden/issues')).status).toBe(404);
    expect((await bob.call('POST', '/repos/ada/hidden/issues', { title: 't' })).status).toBe(404);
  });
});

describe('editing an issue', () => {
  it('answers 201, changes what is given and leaves the rest', async () => {
    const { number } = (await post({ title: 'Old', body: 'old', assignees: ['ada'] })).body;
    const after = await patch(number, { title: 'New' });
    expect(after.status).toBe(201);
    expect(after.body).toMatchObject({ title: 'New', body: 'old', assignees: [{ login: 'ada' }] });
    expect((await patch(number, { title: '', body: '' })).body).toMatchObject({ title: 'New', body: '' });
    expect((await patch(number, { assignees: [] })).body).toMatchObject({ assignees: [], assignee: null });
    expect((await patch(number, {})).status).toBe(201);
    expect((await patch(number, undefined)).status).toBe(201);
  });

  it('closes with `closed` and reopens with anything else', async () => {
    const { number } = (await post({ title: 'State' })).body;
    const closed = await patch(number, { state: 'closed' });
    expect(closed.body).toMatchObject({ state: 'closed', closed_at: expect.any(String) });
    expect((await patch(number, { state: 'closed' })).body['closed_at']).toBe(closed.body['closed_at']);
    expect((await patch(number, { state: '' })).body).toMatchObject({ state: 'open', closed_at: null });
    await patch(number, { state: 'closed' });
    expect((await patch(number, { state: 'whatever' })).body).toMatchObject({ state: 'open' });
  });

  it('sets and removes deadlines: end of the day in the zone of the value', async () => {
    const { number } = (await post({ title: 'Deadline' })).body;
    const due = async (body: object) => (await patch(number, body)).body['due_date'];
    expect(await due({ due_date: '2026-03-01T01:30:00+09:00' })).toBe('2026-03-01T14:59:59Z');
    expect(await due({ unset_due_date: false })).toBe('2026-03-01T14:59:59Z');
    expect(await due({ unset_due_date: true })).toBe(null);
    expect(await due({ due_date: '2026-03-01T23:30:00-05:00' })).toBe('2026-03-02T04:59:59Z');
    expect(await due({ due_date: '0001-01-01T00:00:00Z' })).toBe(null);
    await due({ due_date: '2026-03-01T00:00:00Z' });
    expect(await due({ RemoveDeadline: true })).toBe(null);
  });

  it('the poster edits text and state; deadline and assignees stay for writers', async () => {
    const { number } = (await post({ title: 'Mine' }, bob)).body;
    const edited = await patch(
      number,
      { title: 'Still mine', due_date: '2026-01-01T00:00:00Z', assignees: ['ada'] },
      bob,
    );
    expect(edited.body).toMatchObject({ title: 'Still mine', due_date: null, assignees: [] });
    expect((await patch(number, { state: 'closed' }, bob)).body).toMatchObject({ state: 'closed' });
    expect((await patch(number, { title: 'By the owner' })).status).toBe(201);
  });

  it('an empty assignee takes all away, unless there is a list besides it', async () => {
    const { number } = (await post({ title: 'Hers', assignee: 'ada' })).body;
    expect((await patch(number, { assignee: null })).body['assignees']).toHaveLength(1);
    expect((await patch(number, { assignee: '', assignees: ['ada'] })).body['assignees']).toHaveLength(1);
    await patch(number, { assignee: '' }, bob);
    expect((await ada.call('GET', `/repos/ada/tools/issues/${number}`)).body['assignees']).toHaveLength(1);
    expect((await patch(number, { assignee: '' })).body).toMatchObject({ assignee: null, assignees: [] });
  });

  it.each([
    ['by a stranger', 403, { title: 'x' }, () => bob],
    ['with an unknown assignee', 422, { title: 'x', assignees: ['nobody'] }, () => ada],
    ['with an unknown milestone', 404, { title: 'x', milestone: 3 }, () => ada],
    ['with a title that is too long', 422, { title: 'x'.repeat(300), state: 'closed' }, () => ada],
    ['with JSON that is none', 422, '{', () => ada],
  ])('is refused %s, and nothing changes', async (_how, status, body, who) => {
    const { number } = (await post({ title: 'Untouched' })).body;
    const before = await stored();
    expect((await patch(number, body, who())).status).toBe(status);
    expect(await stored()).toEqual(before);
  });

  it('an archived repository is read-only: 423', async () => {
    await ada.call('POST', '/user/repos', { name: 'old' });
    await ada.call('POST', '/repos/ada/old/issues', { title: 'one' });
    await scene.sql.run`update :schema.repositories set archived = true where name = 'old'`;
    const before = await stored();
    const refused = await ada.call('POST', '/repos/ada/old/issues', { title: 'two' });
    expect(refused.status).toBe(423);
    expect(refused.body.message).toBe('repo is archived');
    expect((await ada.call('PATCH', '/repos/ada/old/issues/1', { title: 'x' })).status).toBe(423);
    expect((await ada.call('GET', '/repos/ada/old/issues/1')).status).toBe(200);
    expect(await stored()).toEqual(before);
  });
});

describe('the list of issues', () => {
  const list = (query = '') => ada.call('GET', `/repos/ada/many/issues${query}`);
  const titles = async (query: string) => (await list(query)).items.map(({ title }) => title);
  beforeAll(async () => {
    await ada.call('POST', '/user/repos', { name: 'many' });
    for (let number = 1; number <= 35; number++) {
      const body = {
        title: `Issue ${number}`,
        body: number === 3 ? '50% OFF_ now' : '',
        closed: number > 31,
      };
      await ada.call('POST', '/repos/ada/many/issues', body);
    }
  });

  it('has 30 to a page, newest first, open ones unless asked otherwise', async () => {
    const first = await list();
    expect(first.items.map(({ number }) => number)).toEqual(Array.from({ length: 30 }, (_, i) => 31 - i));
    expect(await titles('?page=2')).toEqual(['Issue 1']);
    expect(await titles('?page=3')).toEqual([]);
    expect(await titles('?state=closed')).toEqual(['Issue 35', 'Issue 34', 'Issue 33', 'Issue 32']);
    expect(await titles('?state=nonsense&limit=1')).toEqual(['Issue 31']);
    expect(await titles('?state=all&limit=2&page=2')).toEqual(['Issue 33', 'Issue 32']);
  });

  it('filtered by an organization that must not be known says what it says of nobody', async () => {
    const lin = scene.person('lin');
    await lin.call('POST', '/orgs', { username: 'lodge', visibility: 'private' });
    for (const by of ['created_by', 'assigned_by', 'mentioned_by']) {
      expect((await list(`?${by}=ADA`)).status).toBe(200);
      const [hidden, missing] = [await list(`?${by}=lodge`), await list(`?${by}=nobody`)];
      expect([hidden.status, hidden.text.replaceAll('lodge', 'nobody')]).toEqual([404, missing.text]);
      expect((await lin.call('GET', `/repos/ada/many/issues?${by}=lodge`)).status).toBe(200);
    }
  });

  it('takes at most 50, and the default for nonsense', async () => {
    expect((await list('?state=all&limit=1000')).items).toHaveLength(35);
    expect((await list('?state=all&limit=0')).items).toHaveLength(30);
    expect((await list('?state=all&limit=x&page=-1')).items).toHaveLength(30);
  });

  it('counts exactly in X-Total-Count, and links by the counters of the repository', async () => {
    const found = await list('?q=Issue+1&limit=10&state=all');
    expect(found.headers.get('x-total-count')).toBe('11');
    // 35 issues in the repository, ten to a page: the contract makes Link of that, whatever the filter leaves.
    const base = `${scene.address}/api/v1/repos/ada/many/issues?limit=10`;
    expect(found.headers.get('link')).toBe(
      `<${base}&page=2&q=Issue+1&state=all>; rel="next",<${base}&page=4&q=Issue+1&state=all>; rel="last"`,
    );
    const second = await list('?page=2');
    const url = `${scene.address}/api/v1/repos/ada/many/issues?page=1`;
    expect(second.headers.get('link')).toBe(`<${url}>; rel="first",<${url}>; rel="prev"`);
    expect((await list('?state=closed')).headers.get('link')).toBe(null);
  });

  it('searches title and body for the text, whatever its case, and takes no character for a wildcard', async () => {
    expect(await titles('?q=%20iSSue%2030%20')).toEqual(['Issue 30']);
    expect(await titles('?q=50%25+off_')).toEqual(['Issue 3']);
    expect(await titles('?q=5_%25')).toEqual([]);
    expect(await titles('?q=a%00b&limit=1')).toEqual(['Issue 31']);
    expect(await titles("?q=';drop table issues;--")).toEqual([]);
  });

  it('shows issues, pull requests or both', async () => {
    expect(await titles('?type=pulls')).toEqual([]);
    expect(await titles('?type=issues&limit=1')).toEqual(['Issue 31']);
  });

  it('of several values of a parameter the first counts', async () => {
    expect((await list('?state=closed&state=open')).items).toHaveLength(4);
  });
});
