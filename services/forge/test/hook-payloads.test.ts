import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, pushBranch, pushedRepository } from './forge.ts';
import { useHookedForge } from './hooked-forge.ts';

const { scene, receiver, hookUp, person } = await useHookedForge();
const ZERO = '0'.repeat(40);
let ada: Person;

beforeAll(() => {
  ada = person();
});
const make = (name: string) => ada.call('POST', '/user/repos', { name });

describe('what is told', () => {
  it('of pushes with very long paths: what there is room for', async () => {
    const tree = await pushedRepository(ada, 'long', scene.folder);
    await hookUp('long', ['push']);
    const files = Array.from({ length: 50 }, (_, n): [string, string] => [`file-${n}`, '']);
    const parent = await commit(tree, Object.fromEntries(files), 'some');
    await git(tree, 'push', '-q', 'origin', 'main');
    for (let n = 0; n < 6; n++) {
      const one = await git(tree, 'write-tree');
      await git(tree, 'read-tree', '--empty');
      for (const name of ['l', 'r'])
        await git(tree, 'read-tree', `--prefix=${name.repeat(250)}/${name.repeat(250)}/`, one);
    }
    const made = await git(tree, 'commit-tree', '-m', 'many', '-p', parent, await git(tree, 'write-tree'));
    await git(tree, 'push', '-q', 'origin', `${made}:refs/heads/main`);
    const [, pushed] = await receiver.take('push', 2);
    const { text } = receiver.deliveries[1] ?? { text: '' };
    expect(pushed).toMatchObject({ total_commits: 1, head_commit: { id: made } });
    const head = pushed?.['head_commit'] as { added: string[] } | undefined;
    expect(head?.added.length).toBeGreaterThan(1000);
    expect(text.length).toBeLessThan(9 * 1024 * 1024);
    const listed = await ada.call('GET', `/repos/ada/long/commits?sha=${made}&limit=1`);
    expect(listed.items).toMatchObject([{ sha: made }]);
    expect(listed.text.length).toBeLessThan(5 * 1024 * 1024);
  });

  it('of pushes: branches and tags that appear, move and go', async () => {
    const tree = await pushedRepository(ada, 'pushed', scene.folder);
    const hook = await hookUp('pushed', ['push', 'create', 'delete']);
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
      {
        ref: 'refs/heads/topic/x',
        before: ZERO,
        after: last,
        total_commits: 0,
        // With the default branch: where there is nothing before it, receivers link what it brings.
        compare_url: `${scene.address}/ada/pushed/compare/${last}...${last}`,
      },
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

    // Of notes nothing.
    receiver.clear();
    await git(tree, 'push', '-q', 'origin', ':refs/tags/v1', 'main:refs/notes/commits');
    expect(await receiver.take('delete')).toMatchObject([{ ref: 'v1', ref_type: 'tag' }]);
    expect(await receiver.take('push')).toMatchObject([
      { ref: 'refs/tags/v1', before: last, after: ZERO, head_commit: null },
    ]);
    await expect.poll(() => scene.sql.rows`select id from :schema.outbox`).toEqual([]);
    const { items: log } = await ada.call('GET', `${hook}/deliveries`);
    const told = log.map(({ event, request }) => {
      const { ref } = JSON.parse((request as { payload: string }).payload) as { ref: string };
      return `${String(event)} ${ref}`;
    });
    expect(told.sort()).toEqual([
      'create topic/x',
      'create v1',
      'delete topic/x',
      'delete v1',
      'push refs/heads/main',
      'push refs/heads/topic/x',
      'push refs/heads/topic/x',
      'push refs/tags/v1',
      'push refs/tags/v1',
    ]);
    // Nothing moves, nothing is told.
    receiver.clear();
    await git(tree, 'push', '-q', 'origin', 'main');
    await ada.call('POST', `${await hookUp('pushed', ['push'])}/tests`);
    await receiver.take('push', 1);
  });

  it('of annotated tags: with the commit they lead to', async () => {
    const tree = await pushedRepository(ada, 'tagged', scene.folder);
    await hookUp('tagged', ['push', 'create']);
    const made = await commit(tree, { new: '1' }, 'for the tag');
    await git(tree, 'tag', '-a', '-m', 'version one', 'v1');
    await git(tree, 'push', '-q', 'origin', 'v1');
    const tag = await git(tree, 'rev-parse', 'v1');
    expect(await receiver.take('create')).toMatchObject([{ ref: 'v1', ref_type: 'tag', sha: tag }]);
    expect(await receiver.take('push')).toMatchObject([
      {
        ref: 'refs/tags/v1',
        after: tag,
        total_commits: 1,
        commits: [{ id: made }],
        head_commit: { id: made, message: 'for the tag\n', added: ['new'] },
      },
    ]);
    // Of what is no commit.
    receiver.clear();
    await git(tree, 'tag', '-a', '-m', 'a text', 'text', 'HEAD:README.md');
    await git(tree, 'push', '-q', 'origin', 'text');
    expect(await receiver.take('push')).toMatchObject([
      { ref: 'refs/tags/text', total_commits: 0, commits: [], head_commit: null },
    ]);
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
        organization: { login: 'ada' },
        sender: { login: 'ada' },
      },
    ]);
    expect(receiver.deliveries[0]?.headers['x-gitea-hook-installation-target-type']).toBe('user');
    const bob = scene.person('bob');
    expect((await bob.call('POST', '/repos/ada/born/forks', {})).status).toBe(202);
    expect(await receiver.take('fork')).toMatchObject([
      { repository: { full_name: 'bob/born' }, forkee: { full_name: 'ada/born' }, sender: { login: 'bob' } },
    ]);
    // Hooks of the original do not know of organizations that others must not know of.
    await bob.call('POST', '/orgs', { username: 'lair', visibility: 'private' });
    receiver.clear();
    const { status } = await bob.call('POST', '/repos/ada/born/forks', { organization: 'lair' });
    expect(status).toBe(202);
    const cy = scene.person('cy');
    expect((await cy.call('POST', '/repos/ada/born/forks', {})).status).toBe(202);
    expect(await receiver.take('fork')).toMatchObject([{ repository: { full_name: 'cy/born' } }]);
    receiver.clear();
    expect((await ada.call('DELETE', '/repos/ada/born')).status).toBe(204);
    expect((await receiver.take('repository'))[0]).toMatchObject({
      action: 'deleted',
      repository: { full_name: 'ada/born' },
    });
    await ada.call('DELETE', `/user/hooks/${hook.id}`);
  });

  it('of what is said of a commit, once, and of nothing that was refused', async () => {
    const tree = await pushedRepository(ada, 'checked', scene.folder, { private: true });
    const sha = await git(tree, 'rev-parse', 'HEAD');
    const eve = scene.person('eve');
    await eve.call('GET', '/user');
    // Who hooks up while the push is being told hears of it.
    await expect.poll(() => scene.sql.rows`select id from :schema.outbox`).toEqual([]);
    receiver.clear();
    await hookUp('checked', ['status'], { branch_filter: 'nothing' });
    await hookUp('checked', ['push']);
    const say = (who: Person, body: object, at = sha) =>
      who.call('POST', `/repos/ada/checked/statuses/${at}`, body);
    for (const [who, body, status, at] of [
      [eve, { state: 'success' }, 404],
      [ada, { state: 'wonderful' }, 422],
      [ada, { state: 'success', target_url: 'javascript:x' }, 422],
      [ada, { state: 'success' }, 404, 'none'],
    ] as const) {
      expect((await say(who, body, at)).status).toBe(status);
    }
    const sent = { state: 'pending', context: 'ci', target_url: 'https://ci.example/1', description: 'runs' };
    const made = (await say(ada, sent, 'main')).body;
    await say(ada, { state: 'success', context: 'ci' });
    await expect.poll(() => scene.sql.rows`select id from :schema.outbox`).toEqual([]);
    // Deliveries to one host go side by side.
    const [first, second] = (await receiver.take('status', 2)).sort((a, b) => Number(a.id) - Number(b.id));
    expect(receiver.deliveries.map(({ headers }) => headers['x-gitea-event'])).toEqual(['status', 'status']);
    expect(first).toEqual({
      commit: expect.objectContaining({
        id: sha,
        url: `${scene.address}/ada/checked/commit/${sha}`,
        added: ['README.md', 'lines.txt'],
        // An address that he shows to people.
        author: { name: 'Ada', email: 'ada@example.test', username: 'ada' },
        removed: [],
        modified: [],
      }),
      context: 'ci',
      created_at: made['created_at'],
      description: 'runs',
      id: made.id,
      repository: expect.objectContaining({ full_name: 'ada/checked', private: true }),
      sender: expect.objectContaining({ login: 'ada', email: expect.stringContaining('@noreply.') }),
      sha,
      state: 'pending',
      target_url: 'https://ci.example/1',
      updated_at: made['updated_at'],
    });
    // Each as it was said: another one of the same context is another event.
    expect(second).toMatchObject({ state: 'success', context: 'ci', description: '', target_url: '' });
  });

  it('of releases that are published, and of no drafts', async () => {
    await pushedRepository(ada, 'released', scene.folder, { private: true });
    await hookUp('released', ['release', 'create']);
    const path = '/repos/ada/released/releases';
    await ada.call('POST', path, { tag_name: 'v0', draft: true });
    await ada.call('DELETE', `${path}/tags/v0`);
    const { body: made } = await ada.call('POST', path, { tag_name: 'v1', name: 'One' });
    const [published] = await receiver.take('release');
    expect(published).toEqual({
      action: 'published',
      release: {
        ...made,
        author: expect.objectContaining({ login: 'ada', email: expect.stringContaining('@noreply.') }),
      },
      repository: expect.objectContaining({ full_name: 'ada/released', release_counter: 1 }),
      sender: expect.objectContaining({ login: 'ada' }),
    });
    expect(await receiver.take('create')).toMatchObject([{ ref: 'v1', ref_type: 'tag' }]);
    const headers = receiver.deliveries.map((delivery) => delivery.headers['x-gitea-event']);
    expect(headers.sort()).toEqual(['create', 'release']);
    await ada.call('PATCH', `${path}/${made.id}`, { name: 'Uno' });
    expect((await receiver.take('release', 2))[1]).toMatchObject({
      action: 'updated',
      release: { id: made.id, name: 'Uno', draft: false },
    });
    await ada.call('DELETE', `${path}/${made.id}`);
    expect((await receiver.take('release', 3))[2]).toMatchObject({
      action: 'deleted',
      release: { id: made.id, tag_name: 'v1', name: 'Uno' },
      repository: { release_counter: 0 },
    });
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
