import { fixedClock } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';

const clock = fixedClock('2026-03-01T00:00:00Z');
/** Whoever may read tracks time. */
const FOR_READERS = { internal_tracker: { allow_only_contributors_to_track_time: false } };
const scene = useForge({ clock });
let ada: Person;
let wim: Person;
let rob: Person;
let root: Person;
beforeAll(async () => {
  ada = scene.person('ada');
  wim = scene.person('wim');
  rob = scene.person('rob');
  root = scene.person('root', { role: 'service_role' });
  for (const person of [wim, rob, root]) await person.call('GET', '/user');
  await ada.call('POST', '/user/repos', { name: 'tools' });
  await ada.call('POST', '/user/repos', { name: 'secret', private: true });
  await ada.call('PUT', '/repos/ada/tools/collaborators/wim', { permission: 'write' });
  for (const name of ['tools', 'secret']) await ada.call('PATCH', `/repos/ada/${name}`, FOR_READERS);
});

const at = '/repos/ada/tools/issues';
async function issue(title: string, repo = 'tools'): Promise<number> {
  const made = await ada.call('POST', `/repos/ada/${repo}/issues`, { title });
  expect(made.status, made.text).toBe(201);
  return made.body.number;
}
const stored = () =>
  rowsOf(scene, 'issues', 'comments', 'reactions', 'issue_subscriptions', 'tracked_times', 'stopwatches');
async function refused(status: number, who: Person, method: string, path: string, body?: unknown) {
  const before = await stored();
  const answer = await who.call(method, path, body);
  expect(answer.status, `${method} ${path}: ${answer.text}`).toBe(status);
  expect(answer.body.message).not.toBe('');
  expect(await stored()).toEqual(before);
}
async function done(status: number, who: Person, method: string, path: string, body?: unknown) {
  const answer = await who.call(method, path, body);
  expect(answer.status, `${method} ${path}: ${answer.text}`).toBe(status);
  return answer;
}
const types = async (number: number) =>
  (await ada.call('GET', `${at}/${number}/timeline?limit=50`)).items.map((one) => one['type']);

describe('reactions', () => {
  it.each(['issue', 'comment'])('to an %s are there once for each person and kind', async (kind) => {
    const number = await issue('Nice');
    const comment = (await done(201, ada, 'POST', `${at}/${number}/comments`, { body: 'x' })).body.id;
    const path = kind === 'issue' ? `${at}/${number}/reactions` : `${at}/comments/${comment}/reactions`;
    expect((await done(200, rob, 'GET', path)).items).toEqual([]);
    const made = await done(201, rob, 'POST', path, { content: '+1' });
    expect(made.body).toEqual({
      user: (await rob.call('GET', '/user')).body,
      content: '+1',
      created_at: '2026-03-01T00:00:00Z',
    });
    expect((await done(200, rob, 'POST', path, { content: '+1' })).body).toEqual(made.body);
    await done(201, rob, 'POST', path, { content: 'heart' });
    await done(201, wim, 'POST', path, { content: '+1' });
    for (const content of ['+2', '', '<script>', 'HEART']) await refused(403, rob, 'POST', path, { content });
    await refused(422, rob, 'POST', path, { content: 5 });
    const list = await done(200, ada, 'GET', `${path}?limit=2`);
    expect(list.items).toMatchObject([{ content: '+1' }, { content: 'heart' }]);
    expect(list.headers.get('x-total-count')).toBe('3');
    await done(204, rob, 'DELETE', path, { content: '+1' });
    await done(204, rob, 'DELETE', path, { content: '+1' });
    expect((await ada.call('GET', path)).items).toMatchObject([
      { content: 'heart', user: { login: 'rob' } },
      { content: '+1', user: { login: 'wim' } },
    ]);
  });

  it('cannot be more than there are kinds, however often and at once somebody reacts', async () => {
    const number = await issue('Spam');
    const kinds = ['+1', '-1', 'laugh', 'hooray', 'confused', 'heart', 'rocket', 'eyes'];
    const answers = await Promise.all(
      [...kinds, ...kinds, ...kinds].map((content) =>
        rob.call('POST', `${at}/${number}/reactions`, { content }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(8);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(16);
  });

  it('are not for what the person cannot read', async () => {
    const number = await issue('Hidden', 'secret');
    for (const method of ['GET', 'POST', 'DELETE'])
      await refused(
        404,
        rob,
        method,
        `/repos/ada/secret/issues/${number}/reactions`,
        method === 'GET' ? undefined : { content: '+1' },
      );
  });
});

describe('pins', () => {
  it('are three at most, in an order writers decide', async () => {
    const numbers = [await issue('a'), await issue('b'), await issue('c'), await issue('d')];
    const [a = 0, b = 0, c = 0, d = 0] = numbers;
    const pinned = async () =>
      (await rob.call('GET', `${at}/pinned`)).items.map((one) => [one.title, one['pin_order']]);
    await refused(403, rob, 'POST', `${at}/${a}/pin`);
    for (const number of [a, b]) await done(204, wim, 'POST', `${at}/${number}/pin`);
    expect((await rob.call('GET', '/repos/ada/tools/new_pin_allowed')).body).toEqual({
      issues: true,
      pull_requests: true,
    });
    await done(204, wim, 'POST', `${at}/${c}/pin`);
    await done(204, wim, 'POST', `${at}/${c}/pin`);
    expect((await rob.call('GET', '/repos/ada/tools/new_pin_allowed')).body).toEqual({
      issues: false,
      pull_requests: true,
    });
    await refused(403, wim, 'POST', `${at}/${d}/pin`);
    await done(204, wim, 'PATCH', `${at}/${c}/pin/1`);
    expect(await pinned()).toEqual([
      ['c', 1],
      ['a', 2],
      ['b', 3],
    ]);
    await done(204, wim, 'PATCH', `${at}/${c}/pin/99`);
    expect(await pinned()).toEqual([
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ]);
    for (const position of ['0', '-1', 'x']) await refused(422, wim, 'PATCH', `${at}/${a}/pin/${position}`);
    await refused(404, wim, 'PATCH', `${at}/${d}/pin/1`);
    await refused(403, rob, 'PATCH', `${at}/${a}/pin/2`);
    await refused(403, rob, 'DELETE', `${at}/${a}/pin`);
    await done(204, wim, 'DELETE', `${at}/${a}/pin`);
    await done(204, wim, 'DELETE', `${at}/${a}/pin`);
    expect(await pinned()).toEqual([
      ['b', 1],
      ['c', 2],
    ]);
    expect(await types(a)).toEqual(['pin', 'unpin']);
    expect((await rob.call('GET', '/repos/ada/tools/pulls/pinned')).items).toEqual([]);
    for (const number of [b, c]) await done(204, wim, 'DELETE', `${at}/${number}/pin`);
  });

  it('stay three when many pin at once', async () => {
    const numbers = await Promise.all(Array.from({ length: 8 }, (_, n) => issue(`rush ${n}`)));
    const answers = await Promise.all(numbers.map((number) => wim.call('POST', `${at}/${number}/pin`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 204, 204, 403, 403, 403, 403, 403]);
    const orders = (await rob.call('GET', `${at}/pinned`)).items.map((one) => one['pin_order']);
    expect(orders).toEqual([1, 2, 3]);
  });
});

describe('subscriptions', () => {
  it('are one’s own business', async () => {
    const number = await issue('Heard');
    const path = `${at}/${number}/subscriptions`;
    expect((await done(200, ada, 'GET', `${path}/check`)).body).toMatchObject({
      subscribed: true,
      ignored: false,
    });
    expect((await done(200, rob, 'GET', `${path}/check`)).body).toEqual({
      subscribed: false,
      ignored: true,
      reason: null,
      created_at: '2026-03-01T00:00:00Z',
      url: `${scene.address}/api/v1${path}`,
      repository_url: `${scene.address}/api/v1/repos/ada/tools`,
    });
    await done(201, rob, 'PUT', `${path}/rob`);
    await done(200, rob, 'PUT', `${path}/ROB`);
    expect((await done(200, rob, 'GET', path)).items).toMatchObject([{ login: 'rob' }]);
    await refused(403, rob, 'PUT', `${path}/wim`);
    await refused(403, rob, 'DELETE', `${path}/ada`);
    await refused(403, rob, 'PUT', `${path}/nobody`);
    await refused(404, root, 'PUT', `${path}/nobody`);
    await done(201, root, 'PUT', `${path}/wim`);
    await done(201, rob, 'DELETE', `${path}/rob`);
    await done(200, rob, 'DELETE', `${path}/rob`);
    // What one said counts more than having a part in it.
    await done(201, ada, 'DELETE', `${path}/ada`);
    expect((await done(200, ada, 'GET', `${path}/check`)).body).toMatchObject({ subscribed: false });
    expect((await done(200, rob, 'GET', path)).items).toMatchObject([{ login: 'wim' }]);
    const hidden = await issue('Hidden too', 'secret');
    await refused(404, rob, 'PUT', `/repos/ada/secret/issues/${hidden}/subscriptions/rob`);
    await refused(404, rob, 'GET', `/repos/ada/secret/issues/${hidden}/subscriptions/check`);
  });
});

describe('tracked time', () => {
  it('is noted, listed and forgotten', async () => {
    const number = await issue('Work');
    const path = `${at}/${number}/times`;
    const made = await done(200, rob, 'POST', path, { time: 5400, created: '2026-02-01T10:00:00Z' });
    const id = (await ada.call('GET', `${at}/${number}`)).body.id;
    expect(made.body).toEqual({
      id: made.body.id,
      created: '2026-02-01T10:00:00Z',
      time: 5400,
      user_id: (await rob.call('GET', '/user')).body.id,
      user_name: 'rob',
      issue_id: id,
      issue: (await rob.call('GET', `${at}/${number}`)).body,
    });
    await done(200, wim, 'POST', path, { time: 60 });
    await done(200, root, 'POST', path, { time: 1, user_name: 'ada' });
    await refused(404, ada, 'POST', path, { time: 1, user_name: 'nobody' });
    for (const time of [0, -5]) await refused(400, rob, 'POST', path, { time });
    for (const time of [1e12, '5', null, 1.5]) await refused(422, rob, 'POST', path, { time });
    await refused(422, rob, 'POST', path, { time: 1, created: 'yesterday' });

    const seen = async (who: Person, query = '', list = path) =>
      (await done(200, who, 'GET', `${list}${query}`)).items.map((one) => one['time']);
    expect(await seen(wim)).toEqual([5400, 60, 1]);
    expect(await seen(rob)).toEqual([5400]);
    expect(await seen(wim, '?user=rob')).toEqual([5400]);
    expect(await seen(wim, '?since=2026-02-20T00:00:00Z')).toEqual([60, 1]);
    await refused(403, rob, 'GET', `${path}?user=wim`);
    await refused(404, wim, 'GET', `${path}?user=nobody`);
    expect(await seen(wim, '', '/repos/ada/tools/times')).toEqual([5400, 60, 1]);
    expect(await seen(rob, '', '/repos/ada/tools/times')).toEqual([5400]);
    expect(await seen(wim, '', '/repos/ada/tools/times/rob')).toEqual([5400]);
    await refused(403, rob, 'GET', '/repos/ada/tools/times/wim');
    expect(await seen(rob, '', '/user/times')).toEqual([5400]);

    expect((await ada.call('GET', `${path}?user=ada`)).items).toHaveLength(1);
    await refused(403, wim, 'DELETE', `${path}/${made.body.id}`);
    const other = await issue('Other work');
    await refused(404, rob, 'DELETE', `${at}/${other}/times/${made.body.id}`);
    await done(204, rob, 'DELETE', `${path}/${made.body.id}`);
    await refused(404, rob, 'DELETE', `${path}/${made.body.id}`);
    await done(204, wim, 'DELETE', path);
    await refused(404, wim, 'DELETE', path);
    expect(await seen(ada)).toEqual([1]);
    const entries = (await ada.call('GET', `${path.replace('/times', '/timeline')}`)).items;
    expect(entries).toMatchObject([
      { type: 'add_time_manual', body: '1h 30min', tracked_time: null },
      { type: 'add_time_manual', body: '1min', tracked_time: null },
      { type: 'add_time_manual', body: '1s', tracked_time: { time: 1, user_name: 'ada' } },
      { type: 'delete_time_manual', body: '- 1h 30min' },
      { type: 'delete_time_manual', body: '- 1min' },
    ]);
  });

  it('of others is noted by administrators of the repository or the site only', async () => {
    const path = `${at}/${await issue('Their work')}/times`;
    // Nobody who only writes could take it back.
    for (const who of [rob, wim])
      for (const name of ['ada', 'nobody'])
        await refused(403, who, 'POST', path, { time: 1, user_name: name });
    await done(200, wim, 'POST', path, { time: 2, user_name: 'WIM' });
    await done(204, ada, 'PUT', '/repos/ada/tools/collaborators/rob', { permission: 'admin' });
    for (const [index, who] of [ada, rob, root].entries()) {
      const { body } = await done(200, who, 'POST', path, { time: 3 + index, user_name: 'wim' });
      expect(body['user_name']).toBe('wim');
    }
    await done(204, ada, 'DELETE', '/repos/ada/tools/collaborators/rob');
    expect((await done(200, wim, 'GET', path)).items.map((one) => one['time'])).toEqual([2, 3, 4, 5]);
    await done(204, wim, 'DELETE', path);
  });

  it('of repositories one may no longer read is not shown', async () => {
    const number = await issue('Once shared', 'secret');
    await done(204, ada, 'PUT', '/repos/ada/secret/collaborators/rob', { permission: 'read' });
    await done(200, rob, 'POST', `/repos/ada/secret/issues/${number}/times`, { time: 77 });
    await done(201, rob, 'POST', `/repos/ada/secret/issues/${number}/stopwatch/start`);
    expect((await rob.call('GET', '/user/times')).text).toContain('Once shared');
    await done(204, ada, 'DELETE', '/repos/ada/secret/collaborators/rob');
    for (const path of ['/user/times', '/user/stopwatches']) {
      const list = await done(200, rob, 'GET', path);
      expect(list.text).not.toContain('Once shared');
      expect(list.headers.get('x-total-count')).toBe('0');
    }
  });

  it('is not noted where a stopwatch of before may write no more', async () => {
    const hidden = await issue('Hidden now', 'secret');
    await done(201, ada, 'POST', '/user/repos', { name: 'shelf' });
    await done(200, ada, 'PATCH', '/repos/ada/shelf', FOR_READERS);
    const old = await issue('Old', 'shelf');
    const [open, next] = [await issue('Open'), await issue('Next')];
    await done(204, ada, 'PUT', '/repos/ada/secret/collaborators/rob', { permission: 'read' });
    const elsewhere = [
      ['secret', hidden],
      ['shelf', old],
    ] as const;
    const written = async () =>
      await scene.sql.rows`
        select c.id from :schema.comments c join :schema.issues i on i.id = c.issue_id
        join :schema.repositories r on r.id = i.repository_id where r.name in ('secret', 'shelf')
        union all select id from :schema.tracked_times t where not exists (select from :schema.issues i
          join :schema.repositories r on r.id = i.repository_id where i.id = t.issue_id and r.name = 'tools')`;
    for (const [repo, number] of elsewhere) {
      await done(201, rob, 'POST', `/repos/ada/${repo}/issues/${number}/stopwatch/start`);
      if (repo === 'secret') await done(204, ada, 'DELETE', '/repos/ada/secret/collaborators/rob');
      else await done(200, ada, 'PATCH', '/repos/ada/shelf', { archived: true });
      const before = await written();
      await done(201, rob, 'POST', `${at}/${open}/stopwatch/start`);
      expect(await written()).toEqual(before);
      await done(204, rob, 'DELETE', `${at}/${open}/stopwatch/delete`);
      expect((await done(200, rob, 'GET', '/user/stopwatches')).items).toEqual([]);
    }
    await done(201, rob, 'POST', `${at}/${open}/stopwatch/start`);
    await done(201, rob, 'POST', `${at}/${next}/stopwatch/start`);
    expect((await types(open)).at(-1)).toBe('stop_tracking');
    await done(204, rob, 'DELETE', `${at}/${next}/stopwatch/delete`);
  });

  it('runs on stopwatches, one for each person', async () => {
    const [first, second] = [await issue('First'), await issue('Second')];
    const on = (number: number, what: string) => `${at}/${number}/stopwatch/${what}`;
    await refused(409, wim, 'POST', on(first, 'stop'));
    await refused(409, wim, 'DELETE', on(first, 'delete'));
    await done(201, wim, 'POST', on(first, 'start'));
    await refused(409, wim, 'POST', on(first, 'start'));
    clock.advance(3_725_000);
    expect((await done(200, wim, 'GET', '/user/stopwatches')).items).toEqual([
      {
        created: '2026-03-01T00:00:00Z',
        seconds: 3725,
        duration: '1h 2min',
        issue_index: first,
        issue_title: 'First',
        repo_owner_name: 'ada',
        repo_name: 'tools',
      },
    ]);
    expect((await done(200, ada, 'GET', '/user/stopwatches')).items).toEqual([]);
    await done(201, wim, 'POST', on(second, 'start'));
    expect((await done(200, wim, 'GET', '/user/stopwatches')).items).toMatchObject([{ issue_index: second }]);
    await done(204, wim, 'DELETE', on(second, 'delete'));
    await done(201, wim, 'POST', on(first, 'start'));
    clock.advance(5000);
    await done(201, wim, 'POST', on(first, 'stop'));
    expect((await wim.call('GET', `${at}/${first}/times`)).items.map((one) => one['time'])).toEqual([
      3725, 5,
    ]);
    expect(await types(first)).toEqual([
      'start_tracking',
      'stop_tracking',
      'start_tracking',
      'stop_tracking',
    ]);
    expect(await types(second)).toEqual(['start_tracking', 'cancel_tracking']);
  });

  it('runs on one stopwatch only of several that somebody starts at once', async () => {
    const numbers = await Promise.all(Array.from({ length: 8 }, (_, index) => issue(`At once ${index}`)));
    const answers = await Promise.all(
      numbers.map((number) => wim.call('POST', `${at}/${number}/stopwatch/start`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(numbers.map(() => 201));
    const { items } = await done(200, wim, 'GET', '/user/stopwatches');
    expect(items).toHaveLength(1);
    await done(204, wim, 'DELETE', `${at}/${Number(items[0]?.['issue_index'])}/stopwatch/delete`);
  });
});

describe('the timeline', () => {
  it('tells everything with what it is about, at the same price however long it is', async () => {
    const number = await issue('Told');
    const label = (await done(201, ada, 'POST', '/repos/ada/tools/labels', { name: 'bug', color: 'ff0000' }))
      .body.id;
    const milestone = (await done(201, ada, 'POST', '/repos/ada/tools/milestones', { title: 'one' })).body.id;
    const blocker = await issue('Blocker');
    await done(201, ada, 'PATCH', `${at}/${number}`, { title: 'Told again' });
    await done(201, ada, 'PATCH', `${at}/${number}`, { milestone });
    await done(201, ada, 'PATCH', `${at}/${number}`, { assignees: ['wim'] });
    await done(200, ada, 'POST', `${at}/${number}/labels`, { labels: [label] });
    await done(201, ada, 'POST', `${at}/${number}/dependencies`, {
      owner: 'ada',
      repo: 'tools',
      index: blocker,
    });
    const entries = (await ada.call('GET', `${at}/${number}/timeline`)).items;
    expect(entries).toMatchObject([
      { type: 'change_title', old_title: 'Told', new_title: 'Told again' },
      { type: 'milestone', milestone: { title: 'one' }, old_milestone: null },
      { type: 'assignees', assignee: { login: 'wim' }, removed_assignee: false },
      { type: 'label', label: { name: 'bug' }, body: '1' },
      { type: 'add_dependency', dependent_issue: { title: 'Blocker' } },
    ]);
    expect(Object.keys(entries[0] ?? {}).sort()).toEqual(
      `id type html_url pull_request_url issue_url user body created_at updated_at old_project_id project_id
      old_milestone milestone tracked_time old_title new_title old_ref new_ref ref_issue ref_comment ref_action
      ref_commit_sha review_id label assignee assignee_team removed_assignee resolve_doer dependent_issue`
        .split(/\s+/)
        .sort(),
    );
    const page = await ada.call('GET', `${at}/${number}/timeline?page=2&limit=2`);
    expect(page.items.map((one) => one['type'])).toEqual(['assignees', 'label']);
    expect(page.headers.get('x-total-count')).toBe('5');
    await done(204, ada, 'DELETE', `/repos/ada/tools/labels/${label}`);
    expect((await ada.call('GET', `${at}/${number}/timeline`)).items[3]).toMatchObject({
      type: 'label',
      label: null,
    });
  });

  it('does not tell of a dependency its reader may not read', async () => {
    const number = await issue('Waits');
    const hidden = await issue('Hidden dependency', 'secret');
    const linked = { owner: 'ada', repo: 'secret', index: hidden };
    await done(201, ada, 'POST', `${at}/${number}/dependencies`, linked);
    expect((await ada.call('GET', `${at}/${number}/timeline`)).text).toContain('Hidden dependency');
    const seen = await rob.call('GET', `${at}/${number}/timeline`);
    expect([seen.items, seen.headers.get('x-total-count')]).toEqual([[], '0']);
  });
});
