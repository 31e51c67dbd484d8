import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';

const scene = useForge();
let ada: Person; // owner of everything
let wim: Person; // writes
let rob: Person; // reads, as everybody who is signed in
let eve: Person; // attacker
let open: number;
beforeAll(async () => {
  ada = scene.person('ada');
  wim = scene.person('wim');
  rob = scene.person('rob');
  eve = scene.person('eve');
  for (const person of [wim, rob, eve]) await person.call('GET', '/user');
  for (const name of ['tools', 'other']) await ada.call('POST', '/user/repos', { name });
  await ada.call('POST', '/user/repos', { name: 'secret', private: true });
  await ada.call('PUT', '/repos/ada/tools/collaborators/wim', { permission: 'write' });
  open = await issue('tools', 'An issue');
});

const path = '/repos/ada/tools/issues';
async function issue(repo: string, title: string, body = '', who = ada): Promise<number> {
  const made = await who.call('POST', `/repos/ada/${repo}/issues`, { title, body });
  expect(made.status, made.text).toBe(201);
  return made.body.number;
}
async function comment(number: number, body: string, who = ada, repo = 'tools'): Promise<number> {
  const made = await who.call('POST', `/repos/ada/${repo}/issues/${number}/comments`, { body });
  expect(made.status, made.text).toBe(201);
  return made.body.id;
}
const show = async (number: number, repo = 'tools') =>
  (await ada.call('GET', `/repos/ada/${repo}/issues/${number}`)).body;
/** Everything a refusal must leave as it is. */
const stored = () => rowsOf(scene, 'issues', 'comments', 'reactions');
async function refused(
  status: number,
  who: Person,
  method: string,
  target: string,
  body?: unknown,
): Promise<string> {
  const before = await stored();
  const answer = await who.call(method, target, body);
  expect(answer.status, `${method} ${target}: ${answer.text}`).toBe(status);
  expect(await stored()).toEqual(before);
  return answer.body?.message ?? '';
}
/** What was announced and not worked off, or all of it when nobody works it off. */
const announced = async (): Promise<unknown[]> =>
  (
    await scene.sql.rows<{ payload: { kind: string } }>`
    select payload from :schema.outbox where topic = 'happening' order by id`
  ).map((row) => row.payload);

describe('a comment', () => {
  it('has exactly the members of the reference', async () => {
    const number = await issue('tools', 'Exact');
    const made = await ada.call('POST', `${path}/${number}/comments`, { body: '  words\n', unknown: 1 });
    expect(made.status, made.text).toBe(201);
    const page = `${scene.address}/ada/tools/issues/${number}`;
    expect(made.body).toEqual({
      id: made.body.id,
      html_url: `${page}#issuecomment-${made.body.id}`,
      pull_request_url: '',
      issue_url: page,
      user: (await ada.call('GET', '/user')).body,
      original_author: '',
      original_author_id: 0,
      body: '  words\n',
      created_at: expect.stringMatching(/Z$/),
      updated_at: made.body['created_at'],
      assets: [],
    });
    expect((await ada.call('GET', `${path}/comments/${made.body.id}`)).body).toEqual(made.body);
    expect((await ada.call('GET', `${path}/${number}/comments`)).items).toEqual([made.body]);
  });

  it('is counted and touches its issue', async () => {
    const number = await issue('tools', 'Counted');
    await scene.sql.run`update :schema.issues set updated_at = '2020-01-01' where number = ${number}`;
    const first = await comment(number, 'one');
    await comment(number, 'two', rob);
    expect(await show(number)).toMatchObject({ comments: 2 });
    expect((await show(number))['updated_at']).not.toMatch(/^2020/);
    expect((await ada.call('DELETE', `${path}/comments/${first}`)).status).toBe(204);
    expect(await show(number)).toMatchObject({ comments: 1 });
    expect((await ada.call('DELETE', `${path}/comments/${first}`)).status).toBe(404);
    expect(await show(number)).toMatchObject({ comments: 1 });
  });

  it('keeps the count right when many write and delete at once', async () => {
    const number = await issue('tools', 'Busy');
    const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => comment(number, `c${n}`)));
    await Promise.all([
      ...ids
        .slice(0, 10)
        .flatMap((id) => [
          ada.call('DELETE', `${path}/comments/${id}`),
          wim.call('DELETE', `${path}/comments/${id}`),
        ]),
      ...Array.from({ length: 5 }, (_, n) => comment(number, `d${n}`)),
    ]);
    expect(await show(number)).toMatchObject({ comments: 15 });
    expect((await ada.call('GET', `${path}/${number}/comments?limit=50`)).items).toHaveLength(15);
  });

  it('is told with all others to clients that say with a limit of 0 that they want no page', async () => {
    const number = await issue('tools', 'Long');
    for (let n = 0; n < 35; n++) await comment(number, `c${n}`);
    for (const query of ['', '?page=1&limit=0', '?page=0&limit=0', '?page=1'])
      expect([query, (await ada.call('GET', `${path}/${number}/comments${query}`)).items.length]).toEqual([
        query,
        35,
      ]);
    expect((await ada.call('GET', `${path}/${number}/comments?page=2`)).items).toHaveLength(5);
  });

  it.each(['', '   \n', 5, null, undefined, 'a\0b'])('is not made of %j', async (body) => {
    await refused(422, ada, 'POST', `${path}/${open}/comments`, { body });
  });

  it('has a limit, and a megabyte is too much for a request', async () => {
    await refused(422, ada, 'POST', `${path}/${open}/comments`, { body: 'x'.repeat(1_000_001) });
    await refused(413, ada, 'POST', `${path}/${open}/comments`, { body: 'x'.repeat(2_000_000) });
  });

  it('is the ghost’s when its author is gone', async () => {
    const gone = scene.person('gone');
    await gone.call('GET', '/user');
    const number = await issue('tools', 'Haunted');
    const id = await comment(number, 'boo', gone);
    await scene.sql.run`delete from :schema.users where login = 'gone'`;
    const expected = { id, body: 'boo', user: { id: -1, login: 'Ghost' } };
    expect((await ada.call('GET', `${path}/comments/${id}`)).body).toMatchObject(expected);
    expect((await ada.call('GET', `${path}/${number}/timeline`)).items).toMatchObject([expected]);
  });

  it('is edited by its author and by writers, and by nobody else', async () => {
    const id = await comment(open, 'rob’s', rob);
    const target = `${path}/comments/${id}`;
    await refused(403, eve, 'PATCH', target, { body: 'evil' });
    await refused(403, eve, 'DELETE', target);
    await refused(422, rob, 'PATCH', target, { body: '' });
    for (const who of [rob, wim, ada]) {
      const edited = await who.call('PATCH', target, { body: `by ${who.name}` });
      expect(edited.status, edited.text).toBe(200);
      expect(edited.body).toMatchObject({ id, body: `by ${who.name}`, user: { login: 'rob' } });
    }
    expect((await wim.call('DELETE', target)).status).toBe(204);
    expect((await rob.call('GET', target)).status).toBe(404);
  });

  it('answers under the old paths too', async () => {
    const id = await comment(open, 'old', rob);
    const target = `${path}/${open}/comments/${id}`;
    const edited = await rob.call('PATCH', target, { body: 'older' });
    expect([edited.status, edited.body]).toMatchObject([200, { body: 'older' }]);
    await refused(403, eve, 'DELETE', target);
    expect((await rob.call('DELETE', target)).status).toBe(204);
  });

  it('is announced when it is made, changed and deleted, and when nothing changed it is not', async () => {
    const number = await issue('tools', 'Loud');
    // Looked at in the transaction log of rows: the worker may take them away at any time.
    await scene.sql.script(`
      create table forge.heard (payload jsonb);
      create function forge.hear() returns trigger language plpgsql as
        $$ begin insert into forge.heard values (new.payload); return new; end $$;
      create trigger hear before insert on forge.outbox for each row when (new.topic = 'happening')
        execute function forge.hear();`);
    try {
      const id = await comment(number, 'first', rob);
      await wim.call('PATCH', `${path}/comments/${id}`, { body: 'second' });
      await wim.call('PATCH', `${path}/comments/${id}`, { body: 'second' });
      await ada.call('DELETE', `${path}/comments/${id}`);
      const heard = await scene.sql.rows<{ payload: object }>`select payload from :schema.heard`;
      const about = { kind: 'comment', commentId: id };
      expect(heard.map(({ payload }) => payload)).toMatchObject([
        { ...about, action: 'created' },
        { ...about, action: 'edited', from: 'first' },
        { ...about, action: 'deleted', from: 'second', deleted: { posterId: expect.any(Number) } },
      ]);
      expect(heard).toHaveLength(3);
    } finally {
      await scene.sql.script(`
        drop trigger hear on forge.outbox; drop function forge.hear(); drop table forge.heard;`);
    }
    expect(await announced()).toBeDefined();
  });
});

describe('entries that are no comments', () => {
  it('are nothing to GET, PATCH and DELETE', async () => {
    const number = await issue('tools', 'Closed');
    await ada.call('PATCH', `${path}/${number}`, { state: 'closed' });
    const [entry] = (await ada.call('GET', `${path}/${number}/timeline`)).items;
    expect(entry).toMatchObject({ type: 'close' });
    const target = `${path}/comments/${entry?.id}`;
    const before = await stored();
    expect((await ada.call('GET', target)).status).toBe(204);
    expect((await ada.call('PATCH', target, { body: 'x' })).status).toBe(204);
    expect((await ada.call('DELETE', target)).status).toBe(204);
    await refused(403, eve, 'DELETE', target);
    expect(await stored()).toEqual(before);
    expect((await ada.call('GET', `${path}/${number}/comments`)).items).toEqual([]);
  });
});

describe('lists of comments', () => {
  it('have a range, and pages where they are asked for', async () => {
    const number = await issue('other', 'Long', '');
    const at = '/repos/ada/other/issues';
    for (let day = 1; day <= 35; day++) await comment(number, `day ${day}`, ada, 'other');
    await scene.sql.run`
      update :schema.comments c set updated_at = '2026-01-01T00:00:00Z'::timestamptz
        + make_interval(days => substr(body, 5)::int - 1) where body like 'day %'`;
    const bodies = async (query: string, target = `${at}/${number}/comments`) => {
      const list = await ada.call('GET', `${target}${query}`);
      expect(list.status, list.text).toBe(200);
      return { total: list.headers.get('x-total-count'), bodies: list.items.map((item) => item['body']) };
    };
    expect((await bodies('')).bodies).toHaveLength(35);
    expect(await bodies('?since=2026-01-02T00:00:00Z&before=2026-01-03T01:00:00%2B01:00')).toEqual({
      total: '2',
      bodies: ['day 2', 'day 3'],
    });
    expect(await bodies('?page=2&limit=2')).toEqual({ total: '35', bodies: ['day 3', 'day 4'] });
    expect(await bodies('?page=99999999')).toEqual({ total: '35', bodies: [] });
    const all = await bodies('?limit=3', `${at}/comments`);
    expect(all).toEqual({ total: '35', bodies: ['day 1', 'day 2', 'day 3'] });
    expect((await bodies('', `${at}/comments`)).bodies).toHaveLength(30);
    for (const wrong of ['yesterday', '2026-13-01T00:00:00Z', '2026', '12', '2026-01-01'])
      await refused(422, ada, 'GET', `${at}/${number}/comments?since=${wrong}`);
  });

  it('end where a conversation is longer than anybody reads at once', async () => {
    const number = await issue('other', 'Flood');
    await scene.sql.run`
      insert into :schema.comments (issue_id, kind, poster_id, body, created_at, updated_at)
      select id, 'comment', null, repeat('x', 900000), now(), now() from :schema.issues, generate_series(1, 20)
      where title = 'Flood'`;
    const list = await ada.call('GET', `/repos/ada/other/issues/${number}/comments`);
    expect(list.headers.get('x-total-count')).toBe('20');
    expect(list.items).toHaveLength(10);
    expect(list.headers.get('link')).toContain('limit=10&page=2>; rel="next"');
    // All others would look whether 18 MB are as they were.
    await scene.sql.run`delete from :schema.comments where length(body) = 900000`;
  });

  it.each([1000, 1070])('lead on to the rest of %i, which is all there is', async (count) => {
    const title = `Flood of ${count}`;
    const number = await issue('other', title);
    await scene.sql.run`
      insert into :schema.comments (issue_id, kind, poster_id, body, created_at, updated_at)
      select id, 'comment', null, 'drop ' || n, now(), now()
      from :schema.issues, generate_series(1, ${count}::int) n where title = ${title}`;
    const seen: unknown[] = [];
    let answers = 0;
    const begin = `/repos/ada/other/issues/${number}/comments?since=2020-01-01T00:00:00Z`;
    for (let path: string | undefined = begin; path !== undefined; answers++) {
      const list = await ada.call('GET', path);
      expect(list.headers.get('x-total-count')).toBe(String(count));
      seen.push(...list.items.map((item) => item['body']));
      path = /api\/v1([^>]*)>; rel="next"/.exec(list.headers.get('link') ?? '')?.[1];
    }
    expect(seen).toEqual(Array.from({ length: count }, (_, index) => `drop ${index + 1}`));
    expect(answers).toBe(count === 1000 ? 1 : 3);
  });

  it('of a repository are none where neither issues nor pull requests are on: 404', async () => {
    const switched = (isOn: boolean) =>
      ada.call('PATCH', '/repos/ada/other', { has_issues: isOn, has_pull_requests: isOn });
    await comment(await issue('other', 'Off'), 'off', ada, 'other');
    await switched(false);
    await refused(404, ada, 'GET', '/repos/ada/other/issues/comments');
    await ada.call('PATCH', '/repos/ada/other', { has_pull_requests: true });
    expect((await ada.call('GET', '/repos/ada/other/issues/comments')).status).toBe(200);
    await switched(true);
  });

  it('leave out what the caller may not read', async () => {
    const secret = await issue('secret', 'Secret');
    await comment(secret, 'hidden', ada, 'secret');
    for (const target of [`issues/${secret}/comments`, 'issues/comments', `issues/${secret}/timeline`])
      await refused(404, eve, 'GET', `/repos/ada/secret/${target}`);
    const paul = scene.person('paul');
    await paul.call('GET', '/user');
    // Reads pull requests only.
    await ada.call('POST', '/orgs', { username: 'guild' });
    await ada.call('POST', '/orgs/guild/repos', { name: 'half', private: true });
    const team = await ada.call('POST', '/orgs/guild/teams', {
      name: 'pullers',
      permission: 'read',
      units: ['repo.pulls'],
      units_map: { 'repo.pulls': 'read' },
      includes_all_repositories: true,
    });
    expect(team.status, team.text).toBe(201);
    expect((await ada.call('PUT', `/teams/${team.body.id}/members/paul`)).status).toBe(204);
    const made = await ada.call('POST', '/repos/guild/half/issues', { title: 'Inside' });
    expect(made.status, made.text).toBe(201);
    const id = (await ada.call('POST', '/repos/guild/half/issues/1/comments', { body: 'hush' })).body.id;
    const all = await paul.call('GET', '/repos/guild/half/issues/comments');
    expect([all.status, all.items, all.headers.get('x-total-count')]).toEqual([200, [], '0']);
    await refused(404, paul, 'GET', `/repos/guild/half/issues/comments/${id}`);
    await refused(404, paul, 'GET', '/repos/guild/half/issues/1/comments');
    await refused(404, paul, 'PATCH', `/repos/guild/half/issues/comments/${id}`, { body: 'x' });
  });
});

describe('attacks', () => {
  it('ids of other repositories lead nowhere', async () => {
    const secret = await issue('secret', 'Another');
    const id = await comment(secret, 'hidden', ada, 'secret');
    for (const who of [eve, ada]) {
      await refused(404, who, 'GET', `${path}/comments/${id}`);
      await refused(404, who, 'PATCH', `${path}/comments/${id}`, { body: 'x' });
      await refused(404, who, 'DELETE', `${path}/comments/${id}`);
      await refused(404, who, 'POST', `${path}/comments/${id}/reactions`, { content: '+1' });
    }
  });

  it.each(['0', '-1', 'x', '1e3', '99999999999999999999', '%00', '1;drop', '...'])(
    'an id %j is none',
    async (id) => {
      for (const method of ['GET', 'DELETE']) {
        const answer = await ada.call(method, `${path}/comments/${id}`);
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(answer.status).toBeLessThan(500);
      }
    },
  );

  it('what is missing is 404 to all methods', async () => {
    await refused(404, ada, 'POST', `${path}/999/comments`, { body: 'x' });
    await refused(404, ada, 'GET', `${path}/999/comments`);
    await refused(404, ada, 'GET', `${path}/999/timeline`);
    await refused(404, ada, 'POST', '/repos/ada/none/issues/1/comments', { body: 'x' });
  });

  it('a locked conversation goes on among writers only', async () => {
    const number = await issue('tools', 'Heated', '', rob);
    const id = await comment(number, 'mine', rob);
    await refused(403, rob, 'PUT', `${path}/${number}/lock`, { lock_reason: 'spam' });
    expect((await wim.call('PUT', `${path}/${number}/lock`, { lock_reason: 'Too heated' })).status).toBe(204);
    expect(await show(number)).toMatchObject({ is_locked: true });
    await refused(403, rob, 'POST', `${path}/${number}/comments`, { body: 'but' });
    await refused(403, rob, 'PATCH', `${path}/comments/${id}`, { body: 'but' });
    await refused(403, rob, 'DELETE', `${path}/comments/${id}`);
    await refused(403, rob, 'POST', `${path}/${number}/reactions`, { content: '-1' });
    await refused(403, rob, 'POST', `${path}/comments/${id}/reactions`, { content: '-1' });
    await refused(403, rob, 'DELETE', `${path}/${number}/lock`);
    await comment(number, 'closing words', wim);
    expect((await wim.call('PUT', `${path}/${number}/lock`)).status).toBe(204);
    expect((await wim.call('DELETE', `${path}/${number}/lock`)).status).toBe(204);
    await comment(number, 'thanks', rob);
    const types = (await ada.call('GET', `${path}/${number}/timeline`)).items.map((one) => [
      one['type'],
      one['body'],
    ]);
    expect(types).toEqual([
      ['comment', 'mine'],
      ['lock', 'Too heated'],
      ['comment', 'closing words'],
      ['unlock', ''],
      ['comment', 'thanks'],
    ]);
    await refused(422, wim, 'PUT', `${path}/${number}/lock`, { lock_reason: 'x'.repeat(256) });
  });

  it('an archived repository takes nothing more', async () => {
    await ada.call('POST', '/user/repos', { name: 'attic' });
    const number = await issue('attic', 'Old');
    const id = await comment(number, 'old', ada, 'attic');
    const archived = await ada.call('PATCH', '/repos/ada/attic', { archived: true });
    expect(archived.status, archived.text).toBe(200);
    const at = '/repos/ada/attic/issues';
    await refused(423, ada, 'POST', `${at}/${number}/comments`, { body: 'x' });
    await refused(423, ada, 'PATCH', `${at}/comments/${id}`, { body: 'x' });
    await refused(423, ada, 'DELETE', `${at}/comments/${id}`);
    await refused(423, ada, 'PUT', `${at}/${number}/lock`);
    await refused(423, ada, 'POST', `${at}/${number}/pin`);
    await refused(423, ada, 'POST', `${at}/${number}/reactions`, { content: '+1' });
    await refused(423, ada, 'POST', `${at}/${number}/times`, { time: 5 });
    await refused(423, ada, 'POST', `${at}/${number}/stopwatch/start`);
    expect((await ada.call('GET', `${at}/comments/${id}`)).status).toBe(200);
  });
});
