import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { startReceiver } from './receiver.ts';
import { type ReviewScene, reviewScene } from './review-scene.ts';

const scene = useForge({ environment: { FORGE_WEBHOOK_ALLOWED_HOSTS: 'loopback' } });
const receiver = await startReceiver();
let work: ReviewScene;
let carl: Person;
beforeAll(async () => {
  work = await reviewScene(scene, 'work');
  carl = scene.person('carl');
  await carl.call('GET', '/user');
  await work.ada.call('POST', `${work.at}/hooks`, {
    type: 'gitea',
    config: { url: receiver.url, content_type: 'json' },
    events: ['pull_request', 'pull_request_review'],
    active: true,
  });
});

const requested = (number: number) => `${work.at}/pulls/${number}/requested_reviewers`;
const pullOf = async (number: number) => (await work.ada.call('GET', `${work.at}/pulls/${number}`)).body;
const searchBy = async (person: Person, query: string) =>
  (await person.call('GET', `/repos/issues/search?type=pulls&${query}`)).items.map(({ title }) => title);
async function settled(): Promise<void> {
  await expect.poll(() => scene.sql.rows`select id from :schema.outbox`).toEqual([]);
}
async function unread(person: Person): Promise<string[]> {
  await settled();
  const { items } = await person.call('GET', '/notifications');
  return items.map((item) => (item['subject'] as { title: string }).title);
}

const UNITS = { units: ['repo.code', 'repo.pulls'] };

describe('asking for a review', () => {
  it('shows in the pull request, its lists, its timeline, the search and the notifications', async () => {
    const { ada, bob, writer, open, review } = work;
    receiver.clear();
    const number = await open('ask');
    const asked = await ada.call('POST', requested(number), { reviewers: ['bob', 'Writer', 'BOB'] });
    expect(asked.status).toBe(201);
    expect(asked.items).toMatchObject([
      {
        state: 'REQUEST_REVIEW',
        user: { login: 'bob' },
        team: null,
        official: false,
        body: '',
        commit_id: '',
      },
      { state: 'REQUEST_REVIEW', user: { login: 'writer' }, official: true },
    ]);
    const logins = [{ login: 'bob' }, { login: 'writer' }];
    expect((await pullOf(number))['requested_reviewers']).toMatchObject(logins);
    const listed = await bob.call('GET', `${work.at}/pulls?state=all`);
    expect([listed.status, listed.text]).toEqual([200, expect.stringContaining('requested_reviewers')]);
    expect(listed.items.find((one) => one.number === number)?.['requested_reviewers']).toMatchObject(logins);
    const reviews = `${work.at}/pulls/${number}/reviews`;
    expect((await ada.call('GET', reviews)).items).toEqual(asked.items);
    expect((await ada.call('GET', `${reviews}/${asked.items[0]?.id}`)).body).toEqual(asked.items[0]);
    expect((await ada.call('GET', `${work.at}/issues/${number}/timeline`)).items).toMatchObject([
      { type: 'pull_push' },
      { type: 'review_request', assignee: { login: 'bob' }, removed_assignee: false, assignee_team: null },
      { type: 'review_request', assignee: { login: 'writer' }, removed_assignee: false },
    ]);
    expect(await searchBy(bob, 'review_requested=true')).toEqual(['ask']);
    expect(await searchBy(carl, 'review_requested=true')).toEqual([]);
    expect(await searchBy(bob, 'reviewed=true')).toEqual([]);
    expect(await unread(bob)).toEqual(['ask']);
    expect(await unread(carl)).toEqual([]);
    const [first] = await receiver.take('pull_request_review_request', 2);
    expect(first).toMatchObject({
      action: 'review_requested',
      number,
      pull_request: { number, requested_reviewers: logins },
      requested_reviewer: { login: expect.stringMatching(/bob|writer/) },
      sender: { login: 'ada' },
    });
    // Whoever is asked is not asked again.
    expect((await ada.call('POST', requested(number), { reviewers: ['bob'] })).items).toEqual([]);

    await review(bob, number, { event: 'COMMENT', body: 'looks good, @carl' });
    expect((await pullOf(number))['requested_reviewers']).toMatchObject([{ login: 'writer' }]);
    expect(await searchBy(bob, 'review_requested=true')).toEqual([]);
    expect(await searchBy(bob, 'reviewed=true')).toEqual(['ask']);
    expect(await searchBy(bob, 'reviewed=true&state=closed')).toEqual([]);
    const [told] = await receiver.take('pull_request_review_comment');
    expect(told).toMatchObject({
      action: 'reviewed',
      number,
      pull_request: { number },
      review: { type: 'pull_request_review_comment', content: 'looks good, @carl' },
      requested_reviewer: { login: 'bob' },
      sender: { login: 'bob' },
    });
    expect(
      receiver.deliveries.find((one) => one.event === 'pull_request_review_comment')?.headers,
    ).toMatchObject({
      'x-gitea-event': 'pull_request_comment',
    });
    expect(await unread(carl)).toEqual(['ask']);
    expect(await unread(ada)).toEqual(['ask']);

    await review(writer, number, { event: 'APPROVED' });
    await receiver.take('pull_request_review_approved');
    await review(writer, number, { event: 'REQUEST_CHANGES', body: 'or not' });
    await receiver.take('pull_request_review_rejected');
  });

  it('is withdrawn, also by who was asked', async () => {
    const { ada, bob, open } = work;
    const number = await open('withdraw');
    await ada.call('POST', requested(number), { reviewers: ['bob', 'writer', 'carl'] });
    const before = await work.stored();
    expect((await bob.call('DELETE', requested(number), { reviewers: ['bob', 'carl'] })).status).toBe(403);
    expect((await bob.call('DELETE', requested(number), {})).status).toBe(403);
    expect(
      (await bob.call('DELETE', requested(number), { reviewers: ['bob'], team_reviewers: ['x'] })).status,
    ).toBe(403);
    expect(await work.stored()).toEqual(before);
    await settled();
    receiver.clear();
    expect((await bob.call('DELETE', requested(number), { reviewers: ['bob'] })).status).toBe(204);
    expect((await ada.call('DELETE', requested(number), { reviewers: ['carl', 'bob'] })).status).toBe(204);
    expect((await pullOf(number))['requested_reviewers']).toMatchObject([{ login: 'writer' }]);
    const told = await receiver.take('pull_request_review_request', 2);
    expect(told).toMatchObject([{ action: 'review_request_removed' }, { action: 'review_request_removed' }]);
    const after = await work.stored();
    expect((await ada.call('DELETE', requested(number), { reviewers: ['bob'] })).status).toBe(204);
    expect(await work.stored()).toEqual(after);
    const request = (await ada.call('GET', `${work.at}/pulls/${number}/reviews`)).items[0]?.id;
    const one = `${work.at}/pulls/${number}/reviews/${request}`;
    expect((await work.writer.call('DELETE', one)).status).toBe(422);
    expect((await ada.call('POST', `${one}/dismissals`, {})).status).toBe(403);
    expect((await work.writer.call('POST', one, { event: 'APPROVED' })).status).toBe(422);
    expect(await work.stored()).toEqual(after);
  });

  it.each([
    ['somebody unknown', 404, { reviewers: ['writer', 'nobody'] }],
    ['the poster', 422, { reviewers: ['writer', 'ada'] }],
    ['an organization', 422, { reviewers: ['writer', 'guild'] }],
    ['a team where there are none', 422, { reviewers: ['writer'], team_reviewers: ['x'] }],
    ['a NUL', 422, { reviewers: ['a\0b'] }],
    ['no list', 422, { reviewers: 'writer' }],
    ['too many', 422, { reviewers: Array.from({ length: 51 }, (_, index) => `u${index}`) }],
  ])('refuses %s, and asks nobody', async (_what, status, body) => {
    await work.ada.call('POST', '/orgs', { username: 'guild' });
    const before = await work.stored();
    expect((await work.ada.call('POST', requested(1), body)).status).toBe(status);
    expect(await work.stored()).toEqual(before);
  });

  it('is for writers and the poster', async () => {
    await pushBranch(work.tree, 'of-bob', { 'bob.txt': 'x' });
    const made = await work.bob.call('POST', `${work.at}/pulls`, {
      head: 'of-bob',
      base: 'main',
      title: 'B',
    });
    const before = await work.stored();
    expect((await carl.call('POST', requested(made.body.number), { reviewers: ['writer'] })).status).toBe(
      403,
    );
    expect(await work.stored()).toEqual(before);
    expect((await work.bob.call('POST', requested(made.body.number), { reviewers: ['ada'] })).status).toBe(
      201,
    );
    expect(
      (await work.writer.call('POST', requested(made.body.number), { reviewers: ['carl'] })).status,
    ).toBe(201);
  });

  it('asks a team, whose members are told and of whom one is enough', async () => {
    const { ada, bob, writer } = work;
    await ada.call('POST', '/orgs', { username: 'crew' });
    await ada.call('POST', '/orgs/crew/repos', { name: 'ship', private: true });
    const make = async (name: string, more: object) =>
      (
        await ada.call('POST', '/orgs/crew/teams', {
          name,
          units_map: { 'repo.code': 'write', 'repo.pulls': 'write' },
          includes_all_repositories: true,
          ...more,
        })
      ).body.id;
    const [sailors, deaf] = [
      await make('sailors', {}),
      await make('deaf', { units_map: { 'repo.issues': 'read' } }),
    ];
    await ada.call('PUT', `/teams/${sailors}/members/bob`);
    await ada.call('PUT', `/teams/${sailors}/members/writer`);
    await ada.call('PUT', `/teams/${deaf}/members/carl`);
    const own = await pushedRepository(ada, 'own', scene.folder);
    await git(own, 'remote', 'set-url', 'origin', ada.remote('crew/ship'));
    await git(own, 'push', '-q', 'origin', 'main');
    await pushBranch(own, 'sail', { 'sail.txt': 'x' });
    const { number } = (
      await ada.call('POST', '/repos/crew/ship/pulls', { head: 'sail', base: 'main', title: 'Sail' })
    ).body;
    const at = `/repos/crew/ship/pulls/${number}`;
    const before = await work.stored();
    for (const [status, body] of [
      [422, { team_reviewers: ['sailors', 'deaf'] }],
      [404, { team_reviewers: ['sailors', 'landlubbers'] }],
      [422, { reviewers: ['carl'], team_reviewers: ['sailors'] }],
    ] as const)
      expect((await ada.call('POST', `${at}/requested_reviewers`, body)).status).toBe(status);
    expect(await work.stored()).toEqual(before);
    const asked = await ada.call('POST', `${at}/requested_reviewers`, { team_reviewers: ['Sailors'] });
    expect(asked.items).toMatchObject([{ user: null, team: { name: 'sailors' }, official: true }]);
    expect((await ada.call('GET', at)).body['requested_reviewers_teams']).toMatchObject([
      { name: 'sailors' },
    ]);
    expect((await ada.call('GET', `/repos/crew/ship/issues/${number}/timeline`)).items).toMatchObject([
      { type: 'pull_push' },
      { type: 'review_request', assignee: null, assignee_team: { name: 'sailors' } },
    ]);
    expect(await searchBy(bob, 'review_requested=true&owner=crew')).toEqual(['Sail']);
    expect(await searchBy(carl, 'review_requested=true&owner=crew')).toEqual([]);
    expect(await unread(writer)).toContain('Sail');
    expect(await unread(carl)).not.toContain('Sail');
    await bob.call('POST', `${at}/reviews`, { event: 'COMMENT', body: 'hm' });
    expect((await ada.call('GET', at)).body['requested_reviewers_teams']).toHaveLength(1);
    await bob.call('POST', `${at}/reviews`, { event: 'APPROVED' });
    expect((await ada.call('GET', at)).body['requested_reviewers_teams']).toEqual([]);
    expect(await searchBy(writer, 'review_requested=true&owner=crew')).toEqual([]);
  });

  it('of a team that may only read holds up no stack, though it is listed', async () => {
    const { ada } = work;
    const at = '/repos/pile/wood';
    await ada.call('POST', '/orgs', { username: 'pile' });
    await ada.call('POST', '/orgs/pile/repos', { name: 'wood', auto_init: true });
    for (const [name, permission] of [
      ['lookers', 'read'],
      ['hewers', 'write'],
    ]) {
      const team = { name, permission, units: ['repo.code', 'repo.pulls'], includes_all_repositories: true };
      expect((await ada.call('POST', '/orgs/pile/teams', team)).status).toBe(201);
    }
    const numbers: number[] = [];
    for (const [head, base] of [
      ['lower', 'main'],
      ['upper', 'lower'],
    ]) {
      const file = { content: 'eA==', message: 'x', branch: base, new_branch: head };
      expect((await ada.call('POST', `${at}/contents/${head}.txt`, file)).status).toBe(201);
      numbers.push((await ada.call('POST', `${at}/pulls`, { head, base, title: head })).body.number);
    }
    const listed = { enable_approvals_whitelist: true, approvals_whitelist_teams: ['lookers', 'hewers'] };
    const rule = { rule_name: 'main', block_on_official_review_requests: true, ...listed };
    expect((await ada.call('POST', `${at}/branch_protections`, rule)).status).toBe(201);

    const requested = `${at}/pulls/${numbers[1]}/requested_reviewers`;
    const merge = () => ada.call('POST', `${at}/pulls/${numbers[1]}/merge`, { merge_stack: true });
    const wish = { team_reviewers: ['lookers', 'hewers'] };
    expect((await ada.call('POST', requested, wish)).status).toBe(201);
    const before = (await ada.call('GET', `${at}/branches/main`)).text;
    expect(await merge()).toMatchObject({
      status: 405,
      body: { message: `#${numbers[1]}: There are official review requests` },
    });
    expect((await ada.call('GET', `${at}/branches/main`)).text).toBe(before);
    expect((await ada.call('GET', `${at}/pulls/${numbers[0]}`)).body).toMatchObject({ merged: false });
    expect((await ada.call('DELETE', requested, { team_reviewers: ['hewers'] })).status).toBe(204);
    expect((await merge()).status).toBe(200);
  });

  it.each([
    [
      'the right to write',
      (id: number) => work.ada.call('PATCH', `/teams/${id}`, { permission: 'read', ...UNITS }),
    ],
    ['the repository', (id: number) => work.ada.call('DELETE', `/teams/${id}/repos/lost/the-repository`)],
  ] as const)('of a team that lost %s is in the way no more', async (what, lose) => {
    const { ada } = work;
    const name = what.replaceAll(' ', '-');
    const at = `/repos/lost/${name}`;
    await ada.call('POST', '/orgs', { username: 'lost' });
    expect((await ada.call('POST', '/orgs/lost/repos', { name, auto_init: true })).status).toBe(201);
    const team = (await ada.call('POST', '/orgs/lost/teams', { name, permission: 'write', ...UNITS })).body
      .id;
    expect((await ada.call('PUT', `/teams/${team}/repos/lost/${name}`)).status).toBe(204);
    const rule = { rule_name: 'main', block_on_official_review_requests: true };
    expect((await ada.call('POST', `${at}/branch_protections`, rule)).status).toBe(201);
    await ada.call('POST', `${at}/contents/x.txt`, { content: 'eA==', message: 'x', new_branch: 'topic' });
    const wish = { head: 'topic', base: 'main', title: 'Lost', team_reviewers: [name] };
    expect((await ada.call('POST', `${at}/pulls`, wish)).status).toBe(201);
    const tip = async () => (await ada.call('GET', `${at}/branches/main`)).text;
    const before = [await work.stored(), await tip()];
    expect(await ada.call('POST', `${at}/pulls/1/merge`, {})).toMatchObject({
      status: 405,
      body: { message: 'There are official review requests' },
    });
    expect([await work.stored(), await tip()]).toEqual(before);
    expect((await lose(team)).status).toBeLessThan(300);
    expect((await ada.call('POST', `${at}/pulls/1/merge`, {})).status).toBe(200);
  });

  it('of a team ends with the repository leaving its organization, and holds up no merge then', async () => {
    const { ada } = work;
    await ada.call('POST', '/orgs', { username: 'yard' });
    await ada.call('POST', '/orgs/yard/repos', { name: 'hull', auto_init: true });
    const at = (owner: string) => `/repos/${owner}/hull`;
    await ada.call('POST', '/orgs/yard/teams', {
      name: 'wrights',
      permission: 'write',
      units: ['repo.code', 'repo.pulls'],
      includes_all_repositories: true,
    });
    await ada.call('POST', `${at('yard')}/branch_protections`, {
      rule_name: 'main',
      block_on_official_review_requests: true,
    });
    const file = { content: 'eA==', message: 'x', new_branch: 'topic' };
    await ada.call('POST', `${at('yard')}/contents/x.txt`, file);
    const wish = { head: 'topic', base: 'main', title: 'Hull', team_reviewers: ['wrights'] };
    expect((await ada.call('POST', `${at('yard')}/pulls`, wish)).status).toBe(201);
    const merge = { Do: 'merge' };
    expect((await ada.call('POST', `${at('yard')}/pulls/1/merge`, merge)).status).toBe(405);
    expect((await ada.call('POST', `${at('yard')}/transfer`, { new_owner: 'ada' })).status).toBe(202);
    // Nobody could withdraw it: the new owner has no team of this name.
    expect((await ada.call('GET', `${at('ada')}/pulls/1/reviews`)).items).toEqual([]);
    expect((await ada.call('POST', `${at('ada')}/pulls/1/merge`, merge)).status).toBe(200);
  });
});

describe('asking for a review with the pull request', () => {
  const openAsking = async (branch: string, more: object, who = work.ada) => {
    await pushBranch(work.tree, branch, { [`${branch}.txt`]: branch });
    return await who.call('POST', `${work.at}/pulls`, { head: branch, base: 'main', title: branch, ...more });
  };

  it('is the same as asking afterwards, and everybody who may create one may ask', async () => {
    receiver.clear();
    const made = await openAsking('asking', { reviewers: ['writer', 'Carl', 'carl'] }, work.bob);
    expect([made.status, made.body['requested_reviewers']]).toMatchObject([
      201,
      [{ login: 'writer' }, { login: 'carl' }],
    ]);
    const { number } = made.body;
    const { items } = await work.ada.call('GET', `${work.at}/pulls/${number}/reviews`);
    expect(items).toMatchObject([
      { state: 'REQUEST_REVIEW', user: { login: 'writer' }, official: true },
      { state: 'REQUEST_REVIEW', user: { login: 'carl' }, official: false },
    ]);
    const timeline = await work.ada.call('GET', `${work.at}/issues/${number}/timeline`);
    expect(timeline.items).toMatchObject([
      { type: 'pull_push', user: { login: 'bob' } },
      { type: 'review_request', user: { login: 'bob' }, assignee: { login: 'writer' } },
      { type: 'review_request', user: { login: 'bob' }, assignee: { login: 'carl' } },
    ]);
    expect(await unread(carl)).toContain('asking');
    const told = await receiver.take('pull_request_review_request', 2);
    // Both are sent at once.
    const logins = told.map(({ requested_reviewer: asked }) => (asked as { login: string }).login);
    expect(logins.toSorted()).toEqual(['carl', 'writer']);
    expect(told.map(({ action }) => action)).toEqual(['review_requested', 'review_requested']);
  });

  it.each([
    ['whom nobody knows', { reviewers: ['carl', 'nobody'] }, 404],
    ['the poster', { reviewers: ['ada'] }, 422],
    ['teams of a person', { team_reviewers: ['owners'] }, 422],
    ['too many', { reviewers: Array.from({ length: 51 }, (_, n) => `p${n}`) }, 422],
    ['whom nobody knows, to assign', { reviewers: ['carl'], assignees: ['nobody'] }, 422],
  ])('is refused for %s, and nothing is created', async (what, more, status) => {
    const stored = async () => [
      await work.stored(),
      await scene.sql.rows`select last_number, pulls from :schema.repositories order by id`,
    ];
    const before = await stored();
    expect((await openAsking(`refused-${what.length}`, more)).status).toBe(status);
    expect(await stored()).toEqual(before);
  });
});
