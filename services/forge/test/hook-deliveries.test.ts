import { git } from '@croft/testing';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { commit, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { signature, startReceiver } from './receiver.ts';

const scene = useForge({
  environment: { FORGE_WEBHOOK_ALLOWED_HOSTS: 'loopback', FORGE_WEBHOOK_TIMEOUT: '1s' },
});
const receiver = await startReceiver();
const slow = await startReceiver();
const SECRET = 'hush';
const ZERO = '0'.repeat(40);
let ada: Person;

beforeAll(() => {
  ada = scene.person('ada');
});
beforeEach(() => {
  receiver.clear();
  receiver.answer = (_delivery, response) => response.end('thanks');
});

async function hookUp(
  repository: string,
  events: string[],
  more: object = {},
  config: object = {},
): Promise<string> {
  const path = `/repos/ada/${repository}/hooks`;
  const { status, body } = await ada.call('POST', path, {
    type: 'gitea',
    config: { url: receiver.url, content_type: 'json', secret: SECRET, ...config },
    events,
    active: true,
    ...more,
  });
  expect(status).toBe(201);
  return `${path}/${body.id}`;
}
const make = (name: string) => ada.call('POST', '/user/repos', { name });
const deliveries = async (hook: string) => (await ada.call('GET', `${hook}/deliveries`)).items;

/** Lets what waits for its next attempt have it now, once it does. */
async function hurry(): Promise<void> {
  await expect.poll(() => scene.sql.rows`select id from :schema.outbox where last_error is null`).toEqual([]);
  await scene.sql.run`update :schema.outbox set last_error = null`;
  await scene.sql.run`update :schema.outbox set run_at = now() where parked_at is null`;
  await scene.sql.run`select pg_notify('croft_outbox', '')`;
}

describe('a delivery', () => {
  it('is signed over its body, names its event, and is in the log with what came back', async () => {
    await make('signed');
    const json = await hookUp('signed', ['issues']);
    const form = await hookUp(
      'signed',
      ['issues'],
      { authorization_header: 'Basic YTpi' },
      { content_type: 'form' },
    );
    receiver.answer = (_delivery, response) =>
      response.writeHead(201, { 'x-mine': 'yes' }).end('zero \0 and more');
    await ada.call('POST', '/repos/ada/signed/issues', { title: 'Grüße & more', body: 'text' });
    await receiver.take('issues', 2);
    expect(receiver.deliveries.map(({ headers }) => headers['content-type']).sort()).toEqual([
      'application/json',
      'application/x-www-form-urlencoded',
    ]);
    for (const { headers, text, payload } of receiver.deliveries) {
      const mac = signature('sha256', SECRET, text);
      expect(headers).toMatchObject({
        'x-gitea-event': 'issues',
        'x-gitea-event-type': 'issues',
        'x-gogs-event': 'issues',
        'x-github-event': 'issues',
        'x-gitea-signature': mac,
        'x-gogs-signature': mac,
        'x-hub-signature-256': `sha256=${mac}`,
        'x-hub-signature': `sha1=${signature('sha1', SECRET, text)}`,
        'x-gitea-hook-installation-target-type': 'repository',
      });
      expect(headers['x-gitea-delivery']).toMatch(/^[0-9a-f-]{36}$/);
      expect(headers['x-github-delivery']).toBe(headers['x-gitea-delivery']);
      expect(payload).toMatchObject({
        action: 'opened',
        number: 1,
        issue: { title: 'Grüße & more', user: { login: 'ada' } },
        repository: { full_name: 'ada/signed', permissions: { admin: true } },
        sender: { login: 'ada', email: 'ada@noreply.127.0.0.1' },
      });
    }
    expect(new Set(receiver.deliveries.map(({ headers }) => headers['x-gitea-delivery'])).size).toBe(2);
    for (const hook of [json, form]) {
      await expect
        .poll(() => deliveries(hook))
        .toMatchObject([
          {
            event: 'issues',
            attempts: 1,
            succeeded: true,
            error: '',
            response: { status: 201, headers: { 'x-mine': 'yes' }, body: 'zero  and more' },
          },
        ]);
    }
  });

  it('has empty signatures without a secret', async () => {
    await make('unsigned');
    await hookUp('unsigned', ['issues'], {}, { secret: '' });
    await ada.call('POST', '/repos/ada/unsigned/issues', { title: 'x' });
    await receiver.take('issues');
    expect(receiver.deliveries[0]?.headers).toMatchObject({
      'x-gitea-signature': '',
      'x-hub-signature': 'sha1=',
      'x-hub-signature-256': 'sha256=',
    });
  });

  it('is tried again with the same id when the receiver is broken, and is one row of the log', async () => {
    await make('retried');
    const hook = await hookUp('retried', ['issues']);
    let broken = 2;
    receiver.answer = (_delivery, response) => {
      response.statusCode = broken-- > 0 ? 503 : 200;
      response.end();
    };
    await ada.call('POST', '/repos/ada/retried/issues', { title: 'x' });
    for (let attempt = 1; attempt <= 3; attempt++) {
      await receiver.take('issues', attempt);
      await expect
        .poll(async () => (await deliveries(hook))[0], { timeout: 10_000 })
        .toMatchObject({ attempts: attempt });
      if (attempt < 3)
        expect((await deliveries(hook))[0]).toMatchObject({
          succeeded: null,
          delivered_at: null,
          error: 'the receiver answered 503',
        });
      if (attempt < 3) await hurry();
    }
    expect(await deliveries(hook)).toMatchObject([
      { attempts: 3, succeeded: true, response: { status: 200 } },
    ]);
    expect(new Set(receiver.deliveries.map(({ headers }) => headers['x-gitea-delivery'])).size).toBe(1);
    expect(await scene.sql.rows`select * from :schema.outbox`).toEqual([]);
  });

  it('is given up after eight attempts, at once when the receiver says no', async () => {
    await make('given-up');
    const hook = await hookUp('given-up', ['issues']);
    receiver.answer = (_delivery, response) => response.writeHead(410).end();
    await ada.call('POST', '/repos/ada/given-up/issues', { title: 'x' });
    await expect
      .poll(() => deliveries(hook))
      .toMatchObject([{ attempts: 1, succeeded: false, response: { status: 410 } }]);
    receiver.answer = (_delivery, response) => response.writeHead(500).end();
    await ada.call('POST', '/repos/ada/given-up/issues', { title: 'y' });
    await expect
      .poll(async () => (await deliveries(hook))[0])
      .toMatchObject({ attempts: 1, response: { status: 500 } });
    await scene.sql.run`update :schema.outbox set attempts = 7`;
    await hurry();
    await expect
      .poll(async () => (await deliveries(hook))[0])
      .toMatchObject({ attempts: 8, succeeded: false });
    expect(await scene.sql.rows`select * from :schema.outbox`).toEqual([]);
  });

  it('does not follow redirects', async () => {
    await make('redirected');
    const hook = await hookUp('redirected', ['issues']);
    receiver.answer = (_delivery, response) => response.writeHead(307, { location: slow.url }).end();
    await ada.call('POST', '/repos/ada/redirected/issues', { title: 'x' });
    await expect
      .poll(() => deliveries(hook))
      .toMatchObject([{ succeeded: false, response: { status: 307 } }]);
    expect(slow.deliveries).toEqual([]);
  });

  it('waits for nobody: a receiver that hangs does not hold up the others', { timeout: 60_000 }, async () => {
    await make('hanging');
    slow.answer = () => {};
    const stuck = await hookUp(
      'hanging',
      ['issues'],
      {},
      { url: slow.url.replace('127.0.0.1', 'localhost') },
    );
    await hookUp('hanging', ['issues']);
    const startedAt = performance.now();
    const count = 40;
    for (let n = 0; n < count; n++) await ada.call('POST', '/repos/ada/hanging/issues', { title: `${n}` });
    await receiver.take('issues', count);
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    // One lane, and a bad one: a few of them were tried, one at a time after the first.
    expect(slow.deliveries.length).toBeLessThan(count);
    await expect
      .poll(async () => (await deliveries(stuck)).find(({ attempts }) => attempts === 1), { timeout: 10_000 })
      .toMatchObject({ succeeded: null, error: expect.stringContaining('did not answer in time') });
    expect((await ada.call('DELETE', stuck)).status).toBe(204);
    await scene.sql.run`update :schema.outbox set run_at = now()`;
    await expect.poll(() => scene.sql.rows`select id from :schema.outbox`, { timeout: 30_000 }).toEqual([]);
  });

  it('can be tried out and sent once more', async () => {
    const tree = await pushedRepository(ada, 'tried', scene.folder);
    const head = await git(tree, 'rev-parse', 'HEAD');
    const hook = await hookUp('tried', ['issues']);
    expect((await ada.call('POST', `${hook}/tests`)).status).toBe(204);
    const [push] = await receiver.take('push');
    expect(push).toMatchObject({
      ref: 'refs/heads/main',
      before: head,
      after: head,
      total_commits: 0,
      head_commit: { id: head },
    });
    expect((await ada.call('POST', `${hook}/tests?ref=nowhere`)).status).toBe(404);
    await expect.poll(() => deliveries(hook)).toMatchObject([{ succeeded: true }]);
    const [first] = await deliveries(hook);
    const again = await ada.call('POST', `${hook}/deliveries/${first?.id}/redeliver`);
    expect(again).toMatchObject({
      status: 202,
      body: {
        event: 'push',
        request: first?.['request'] && { payload: (first['request'] as { payload: string }).payload },
      },
    });
    const [, second] = await receiver.take('push', 2);
    expect(second).toEqual(push);
    await expect
      .poll(() => deliveries(hook))
      .toMatchObject([{ succeeded: true }, { succeeded: true, id: first?.id }]);
    expect((await ada.call('POST', `${hook}/deliveries/999999/redeliver`)).status).toBe(404);
    expect((await ada.call('POST', `${hook}/deliveries/x/redeliver`)).status).toBe(404);
  });
});

describe('what is told', () => {
  it('of pushes: branches and tags that appear, move and go', async () => {
    const tree = await pushedRepository(ada, 'pushed', scene.folder);
    await hookUp('pushed', ['push', 'create', 'delete']);
    const first = await git(tree, 'rev-parse', 'HEAD');
    for (let n = 0; n < 7; n++) await commit(tree, { [`file-${n}`]: `${n}` }, `commit ${n}`);
    await commit(tree, { 'README.md': 'changed', 'lines.txt': null }, 'last\n\nwith a body');
    const last = await git(tree, 'rev-parse', 'HEAD');
    await git(tree, 'push', '-q', 'origin', 'main');
    const [moved] = await receiver.take('push');
    expect(moved).toMatchObject({
      ref: 'refs/heads/main',
      before: first,
      after: last,
      compare_url: `${scene.address}/ada/pushed/compare/${first}...${last}`,
      total_commits: 8,
      head_commit: {
        id: last,
        message: 'last\n\nwith a body\n',
        added: [],
        removed: ['lines.txt'],
        modified: ['README.md'],
      },
      pusher: { login: 'ada' },
      sender: { login: 'ada' },
    });
    expect(moved?.['commits']).toHaveLength(5);
    expect(moved?.['commits']).toMatchObject([
      { id: last },
      { message: 'commit 6\n', added: ['file-6'] },
      {},
      {},
      {},
    ]);

    receiver.clear();
    await git(tree, 'push', '-q', 'origin', 'main:refs/heads/topic/x');
    expect(await receiver.take('create')).toMatchObject([{ ref: 'topic/x', ref_type: 'branch', sha: last }]);
    expect(await receiver.take('push')).toMatchObject([
      { ref: 'refs/heads/topic/x', before: ZERO, after: last, total_commits: 0 },
    ]);

    receiver.clear();
    await git(tree, 'push', '-q', 'origin', ':refs/heads/topic/x', 'main:refs/tags/v1');
    expect(await receiver.take('delete')).toMatchObject([
      { ref: 'topic/x', ref_type: 'branch', pusher_type: 'user' },
    ]);
    expect(await receiver.take('create')).toMatchObject([{ ref: 'v1', ref_type: 'tag' }]);
    const pushes = await receiver.take('push', 2);
    expect(pushes.map(({ ref, after }) => [ref, after])).toEqual(
      expect.arrayContaining([
        ['refs/heads/topic/x', ZERO],
        ['refs/tags/v1', last],
      ]),
    );
    // Nothing moves, nothing is told.
    receiver.clear();
    await git(tree, 'push', '-q', 'origin', 'main');
    await ada.call('POST', `${await hookUp('pushed', ['push'])}/tests`);
    await receiver.take('push', 1);
  });

  it('only of branches that a filter lets through', async () => {
    const tree = await pushedRepository(ada, 'filtered', scene.folder);
    await hookUp('filtered', ['push'], { branch_filter: '{main,release/*}' });
    await pushBranch(tree, 'topic', { topic: '1' });
    await pushBranch(tree, 'release/1', { release: '1' });
    await pushBranch(tree, 'release/1/x', { release: '2' }).catch(() => undefined);
    expect((await receiver.take('push')).map(({ ref }) => ref)).toEqual(['refs/heads/release/1']);
  });

  it('of issues and pull requests that are deleted, as they were', async () => {
    const tree = await pushedRepository(ada, 'gone', scene.folder);
    await hookUp('gone', ['issues', 'pull_request']);
    const path = '/repos/ada/gone';
    await ada.call('POST', `${path}/issues`, { title: 'an issue', body: 'its text' });
    await pushBranch(tree, 'topic', { topic: '1' });
    await ada.call('POST', `${path}/pulls`, { head: 'topic', base: 'main', title: 'a pull request' });
    for (const number of [1, 2]) await ada.call('DELETE', `${path}/issues/${number}`);
    expect((await receiver.take('issues', 2))[1]).toMatchObject({
      action: 'deleted',
      number: 1,
      issue: { number: 1, title: 'an issue', body: 'its text', user: { login: 'ada' } },
      repository: { full_name: 'ada/gone' },
      sender: { login: 'ada' },
    });
    expect((await receiver.take('pull_request', 2))[1]).toMatchObject({
      action: 'deleted',
      number: 2,
      pull_request: { number: 2, title: 'a pull request', head: { ref: 'topic' } },
    });
  });

  it('of issues and what is written about them', async () => {
    await make('texts');
    await hookUp('texts', ['issues']);
    const path = '/repos/ada/texts/issues/1';
    await ada.call('POST', '/repos/ada/texts/issues', { title: 'old', body: 'text' });
    await receiver.take('issues');
    await ada.call('PATCH', path, { title: 'new' });
    expect((await receiver.take('issues', 2))[1]).toMatchObject({
      action: 'edited',
      changes: { title: { from: 'old' } },
      issue: { title: 'new' },
    });
    await ada.call('PATCH', path, { state: 'closed' });
    expect((await receiver.take('issues', 3))[2]).toMatchObject({
      action: 'closed',
      issue: { state: 'closed' },
    });
    const { body } = await ada.call('POST', `${path}/comments`, { body: 'first' });
    expect(await receiver.take('issue_comment')).toMatchObject([
      {
        action: 'created',
        is_pull: false,
        comment: { id: body.id, body: 'first', user: { login: 'ada' } },
        issue: { number: 1 },
      },
    ]);
    await ada.call('PATCH', `/repos/ada/texts/issues/comments/${body.id}`, { body: 'second' });
    expect((await receiver.take('issue_comment', 2))[1]).toMatchObject({
      action: 'edited',
      comment: { body: 'second' },
      changes: { body: { from: 'first' } },
    });
    await ada.call('DELETE', `/repos/ada/texts/issues/comments/${body.id}`);
    expect((await receiver.take('issue_comment', 3))[2]).toMatchObject({
      action: 'deleted',
      comment: { id: body.id, body: 'second', user: { login: 'ada' } },
    });
    const label = await ada.call('POST', '/repos/ada/texts/labels', { name: 'bug', color: 'ff0000' });
    await ada.call('POST', `${path}/labels`, { labels: [label.body.id] });
    expect(await receiver.take('issue_label')).toMatchObject([
      { action: 'label_updated', issue: { labels: [{ name: 'bug' }] } },
    ]);
    expect(receiver.deliveries.find(({ event }) => event === 'issue_label')?.headers['x-gitea-event']).toBe(
      'issues',
    );
    await ada.call('PATCH', path, { assignees: ['ada'] });
    expect(await receiver.take('issue_assign')).toMatchObject([
      { action: 'assigned', issue: { assignees: [{ login: 'ada' }] } },
    ]);
    const milestone = await ada.call('POST', '/repos/ada/texts/milestones', { title: 'one' });
    await ada.call('PATCH', path, { milestone: milestone.body.id });
    expect(await receiver.take('issue_milestone')).toMatchObject([
      { action: 'milestoned', issue: { milestone: { title: 'one' } } },
    ]);
  });

  it('of labels, with those that came and those that went', async () => {
    await make('labelled');
    await hookUp('labelled', ['issue_label']);
    const label = async (name: string) =>
      (await ada.call('POST', '/repos/ada/labelled/labels', { name, color: 'ff0000' })).body;
    const [bug, docs] = [await label('bug'), await label('docs')];
    await ada.call('POST', '/repos/ada/labelled/issues', { title: 'new', labels: [bug.id] });
    await receiver.take('issue_label');
    await ada.call('PUT', '/repos/ada/labelled/issues/1/labels', { labels: [docs.id] });
    await receiver.take('issue_label', 2);
    await ada.call('DELETE', '/repos/ada/labelled/issues/1/labels');
    expect(await receiver.take('issue_label', 3)).toMatchObject([
      { action: 'label_updated', changes: { added_labels: [bug], removed_labels: [] } },
      { action: 'label_updated', changes: { added_labels: [docs], removed_labels: [bug] } },
      { action: 'label_cleared', changes: { added_labels: [], removed_labels: [docs] } },
    ]);
  });

  it('of pull requests: opened, pushed to, given another base, merged', async () => {
    const tree = await pushedRepository(ada, 'pulled', scene.folder);
    await git(tree, 'push', '-q', 'origin', 'main:other');
    const before = await pushBranch(tree, 'topic', { topic: '1' });
    await hookUp('pulled', ['pull_request', 'push', 'delete']);
    await ada.call('POST', '/repos/ada/pulled/pulls', { head: 'topic', base: 'other', title: 'it' });
    expect(await receiver.take('pull_request')).toMatchObject([
      { action: 'opened', number: 1, pull_request: { title: 'it', merged: false, head: { sha: before } } },
    ]);
    await git(tree, 'checkout', '-q', 'topic');
    const after = await commit(tree, { topic: '2' }, 'more');
    await git(tree, 'push', '-q', 'origin', 'topic');
    expect(await receiver.take('pull_request_sync')).toMatchObject([
      {
        action: 'synchronized',
        before,
        after,
        pull_request: { head: { sha: after } },
        sender: { login: 'ada' },
      },
    ]);
    await receiver.take('push');
    await ada.call('PATCH', '/repos/ada/pulled/pulls/1', { base: 'main' });
    expect((await receiver.take('pull_request', 2))[1]).toMatchObject({
      action: 'edited',
      changes: { ref: { from: 'other' } },
      pull_request: { base: { ref: 'main' } },
    });
    await ada.call('POST', '/repos/ada/pulled/issues/1/comments', { body: 'nice' });
    expect(await receiver.take('pull_request_comment')).toMatchObject([
      { is_pull: true, comment: { body: 'nice' }, pull_request: { number: 1 } },
    ]);
    receiver.clear();
    const merged = await ada.call('POST', '/repos/ada/pulled/pulls/1/merge', {
      Do: 'merge',
      delete_branch_after_merge: true,
    });
    expect(merged.status).toBe(200);
    expect(await receiver.take('pull_request')).toMatchObject([
      { action: 'closed', pull_request: { merged: true, merged_by: { login: 'ada' }, state: 'closed' } },
    ]);
    const tip = await git(await scene.bare('ada', 'pulled'), 'rev-parse', 'main');
    const pushes = await receiver.take('push', 2);
    expect(pushes).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ ref: 'refs/heads/main', after: tip, total_commits: 3 }),
        expect.objectContaining({ ref: 'refs/heads/topic', before: after, after: ZERO, head_commit: null }),
      ]),
    );
    expect(await receiver.take('delete')).toMatchObject([{ ref: 'topic', ref_type: 'branch' }]);
  });

  it('of repositories: to hooks of their owner, also when they are gone', async () => {
    const { body: hook } = await ada.call('POST', '/user/hooks', {
      type: 'gogs',
      config: { url: receiver.url, content_type: 'json' },
      events: ['repository', 'fork'],
      active: true,
    });
    await make('born');
    expect(await receiver.take('repository')).toMatchObject([
      {
        action: 'created',
        repository: { full_name: 'ada/born' },
        organization: null,
        sender: { login: 'ada' },
      },
    ]);
    expect(receiver.deliveries[0]?.headers['x-gitea-hook-installation-target-type']).toBe('user');
    const bob = scene.person('bob');
    expect((await bob.call('POST', '/repos/ada/born/forks', {})).status).toBe(202);
    expect(await receiver.take('fork')).toMatchObject([
      { repository: { full_name: 'ada/born' }, forkee: { full_name: 'bob/born' }, sender: { login: 'bob' } },
    ]);
    // Hooks of the original do not know of organizations that others must not know of.
    await bob.call('POST', '/orgs', { username: 'lair', visibility: 'private' });
    receiver.clear();
    const { status } = await bob.call('POST', '/repos/ada/born/forks', { organization: 'lair' });
    expect(status).toBe(202);
    const cy = scene.person('cy');
    expect((await cy.call('POST', '/repos/ada/born/forks', {})).status).toBe(202);
    expect(await receiver.take('fork')).toMatchObject([{ forkee: { full_name: 'cy/born' } }]);
    receiver.clear();
    expect((await ada.call('DELETE', '/repos/ada/born')).status).toBe(204);
    expect((await receiver.take('repository'))[0]).toMatchObject({
      action: 'deleted',
      repository: { full_name: 'ada/born' },
    });
    await ada.call('DELETE', `/user/hooks/${hook.id}`);
  });

  it('of nothing that did not happen', async () => {
    await make('quiet');
    await hookUp('quiet', ['issues']);
    expect((await ada.call('POST', '/repos/ada/quiet/issues', { title: '' })).status).toBe(422);
    await ada.call('POST', '/repos/ada/quiet/issues', { title: 'real' });
    await receiver.take('issues');
    await expect.poll(() => scene.sql.rows`select id from :schema.outbox`).toEqual([]);
    expect(receiver.deliveries).toHaveLength(1);
  });
});

it('the log keeps the newest deliveries of each hook', async () => {
  await make('kept');
  const hook = await hookUp('kept', ['push']);
  const id = Number(hook.split('/').at(-1));
  await scene.sql.run`
    insert into :schema.hook_deliveries (hook_id, uuid, event, event_type, payload, delivered_at, succeeded, created_at)
    select ${id}, gen_random_uuid(), 'push', 'push', '{}', case when n = 1 then null else now() end, n <> 1, now()
    from generate_series(1, 1200) n`;
  const { removeOldDeliveries } = await import('../src/events/start-events.ts');
  const database = { autocommit: () => scene.sql };
  const context = { database, settings: { WEBHOOK_KEPT_DELIVERIES: 100 } };
  await removeOldDeliveries(context as unknown as Parameters<typeof removeOldDeliveries>[0]);
  const left = await scene.sql.rows<{ open: boolean }>`
    select delivered_at is null as open from :schema.hook_deliveries where hook_id = ${id} order by id`;
  // What waits for an attempt is never removed.
  expect(left).toHaveLength(101);
  expect(left[0]?.open).toBe(true);
  expect((await ada.call('GET', `${hook}/deliveries?limit=10`)).headers.get('x-total-count')).toBe('101');
});
