import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';

const scene = useForge();
let ada: Person;
let bob: Person;
let cleo: Person;
let tree: string;
let bare: string;
const at = '/repos/ada/patient';
beforeAll(async () => {
  [ada, bob, cleo] = [scene.person('ada'), scene.person('bob'), scene.person('cleo')];
  tree = await pushedRepository(ada, 'patient', scene.folder);
  bare = await scene.bare('ada', 'patient');
  for (const person of [bob, cleo]) {
    await person.call('GET', '/user');
    await ada.call('PUT', `${at}/collaborators/${person.name}`, { permission: 'write' });
  }
});

let count = 0;
/** A pull request of bob's into a base branch of its own, protected by the options. */
async function open(options?: object): Promise<{ number: number; base: string; head: string }> {
  const base = `base${++count}`;
  const head = `head${count}`;
  await git(tree, 'fetch', '-q', 'origin');
  await git(tree, 'push', '-q', 'origin', `origin/main:refs/heads/${base}`);
  await pushBranch(tree, head, { [`${head}.txt`]: '1' }, 'origin/main');
  const { body } = await bob.call('POST', `${at}/pulls`, { head, base, title: head });
  if (options !== undefined) {
    const protection = { rule_name: base, enable_push: true, ...options };
    expect((await ada.call('POST', `${at}/branch_protections`, protection)).status).toBe(201);
  }
  return { number: body.number, base, head };
}

/** One more commit on a head, by the owner unless somebody else is named. */
async function pushMore(head: string, who?: Person): Promise<string> {
  await git(tree, 'fetch', '-q', 'origin');
  await git(tree, 'checkout', '-q', '-B', head, `origin/${head}`);
  const sha = await commit(tree, { [`more-${head}.txt`]: String(++count) }, 'more');
  await git(tree, 'push', '-q', who?.remote('ada/patient') ?? 'origin', head);
  return sha;
}

const schedule = (who: Person, number: number, body: object = {}) =>
  who.call('POST', `${at}/pulls/${number}/merge`, { merge_when_checks_succeed: true, ...body });
const cancel = (who: Person, number: number, path = at) =>
  who.call('DELETE', `${path}/pulls/${number}/merge`);
const say = async (sha: string, state: string, context = 'ci') =>
  expect((await ada.call('POST', `${at}/statuses/${sha}`, { context, state })).status).toBe(201);
const isMerged = async (number: number) => (await ada.call('GET', `${at}/pulls/${number}/merge`)).status;
async function merged(number: number): Promise<void> {
  await expect.poll(() => isMerged(number)).toBe(204);
}
const scheduled = (number: number) => scene.sql.rows`
  select s.* from :schema.scheduled_merges s join :schema.pulls p on p.id = s.pull_id
    join :schema.issues i on i.id = p.issue_id where i.number = ${number}`;
const told = async (number: number) =>
  (await ada.call('GET', `${at}/issues/${number}/timeline`)).items
    .map((entry) => [entry['type'], (entry['user'] as { login: string }).login])
    .filter(([type]) => /scheduled/.test(String(type)));
/** Until nobody is to look at anything scheduled any more. */
async function settled(): Promise<void> {
  const waiting = () =>
    scene.sql.rows`select from :schema.outbox where topic in ('scheduled-merge', 'merged-head')`;
  await expect.poll(waiting).toEqual([]);
}
const stored = () =>
  Promise.all([git(bare, 'for-each-ref'), rowsOf(scene, 'issues', 'pulls', 'comments', 'scheduled_merges')]);

const CHECKED = { enable_status_check: true, status_check_contexts: ['ci'] };

describe('a scheduled merge', () => {
  it('is of the head that its caller has seen', async () => {
    const { number, head } = await open(CHECKED);
    const seen = await git(bare, 'rev-parse', head);
    await git(tree, 'checkout', '-q', head);
    await commit(tree, { [`${head}.txt`]: '2' }, 'more');
    await git(tree, 'push', '-q', 'origin', head);
    const before = await stored();
    const refused = await schedule(cleo, number, { head_commit_id: seen });
    expect([refused.status, refused.body.message]).toEqual([409, 'head out of date']);
    expect(await stored()).toEqual(before);
    const head_commit_id = await git(bare, 'rev-parse', head);
    expect((await schedule(cleo, number, { head_commit_id })).status).toBe(201);
  });

  it('waits for what is required, and happens as it was asked for', async () => {
    const { number, base, head } = await open(CHECKED);
    const wish = { Do: 'squash', MergeTitleField: 'In its time', delete_branch_after_merge: true };
    const first = await schedule(cleo, number, wish);
    expect([first.status, first.text]).toEqual([201, '']);
    const before = await stored();
    const second = await schedule(bob, number);
    expect([second.status, second.body.message]).toEqual([
      409,
      expect.stringMatching(
        /^pull request is already scheduled to auto merge when checks succeed \[pull_id: \d+\]$/,
      ),
    ]);
    expect(await stored()).toEqual(before);

    await say(head, 'failure');
    await settled();
    expect([await isMerged(number), (await scheduled(number)).length]).toEqual([404, 1]);
    await say(head, 'success');
    await merged(number);
    await settled();
    expect(await git(bare, 'log', '-1', '--format=%s|%cn|%p', base)).toMatch(/^In its time\|cleo\|\w+$/);
    expect((await ada.call('GET', `${at}/pulls/${number}`)).body).toMatchObject({
      merged_by: { login: 'cleo' },
    });
    expect(await scheduled(number)).toEqual([]);
    expect((await ada.call('GET', `${at}/branches/${head}`)).status).toBe(404);
    expect(await told(number)).toEqual([['pull_scheduled_merge', 'cleo']]);
  });

  it('keeps the head branch when it is merged otherwise, by somebody who wants it kept', async () => {
    const { number, head } = await open(CHECKED);
    expect((await schedule(ada, number, { delete_branch_after_merge: true })).status).toBe(201);
    await settled();
    const now = { force_merge: true, delete_branch_after_merge: false };
    expect((await ada.call('POST', `${at}/pulls/${number}/merge`, now)).status).toBe(200);
    await settled();
    expect([await scheduled(number), await isMerged(number)]).toEqual([[], 204]);
    expect((await ada.call('GET', `${at}/branches/${head}`)).status).toBe(200);
  });

  it('happens at once when nothing is missing, and waits for whatever checks there are', async () => {
    const { number } = await open();
    expect((await schedule(bob, number)).status).toBe(201);
    await merged(number);

    const other = await open();
    await say(other.head, 'pending');
    expect((await schedule(bob, other.number)).status).toBe(201);
    await settled();
    expect(await isMerged(other.number)).toBe(404);
    await say(other.head, 'success');
    await merged(other.number);
  });

  it('waits for the checks of a head that came later to begin, where the one before had some', async () => {
    const { number, head } = await open();
    await say(await git(bare, 'rev-parse', head), 'failure');
    expect((await schedule(bob, number)).status).toBe(201);
    await settled();
    expect((await scheduled(number)).length).toBe(1);
    // The second push comes before anything was said of the first.
    for (const _push of [1, 2]) await pushMore(head);
    await settled();
    await ada.call('PATCH', `${at}/pulls/${number}`, { title: 'look again' });
    await settled();
    expect([await isMerged(number), (await scheduled(number)).length]).toEqual([404, 1]);
    const tip = await git(bare, 'rev-parse', head);
    await say(tip, 'pending');
    await settled();
    expect(await isMerged(number)).toBe(404);
    await say(tip, 'success');
    await merged(number);
  });

  it('waits for no checks of a head that came later where nothing checks', async () => {
    const { number, head } = await open({ required_approvals: 1 });
    expect((await schedule(bob, number)).status).toBe(201);
    await pushMore(head);
    await settled();
    expect((await scheduled(number)).length).toBe(1);
    await cleo.call('POST', `${at}/pulls/${number}/reviews`, { event: 'APPROVED' });
    await merged(number);
  });

  it.each<[string, object, (pull: { number: number; base: string; head: string }) => Promise<unknown>]>([
    [
      'an approval',
      { required_approvals: 1 },
      ({ number }) => cleo.call('POST', `${at}/pulls/${number}/reviews`, { event: 'APPROVED' }),
    ],
    [
      'another word of who rejected',
      { block_on_rejected_reviews: true },
      ({ number }) => cleo.call('POST', `${at}/pulls/${number}/reviews`, { event: 'APPROVED' }),
    ],
    [
      'a change of the protection',
      CHECKED,
      ({ base }) => ada.call('PATCH', `${at}/branch_protections/${base}`, { enable_status_check: false }),
    ],
    [
      'the end of the protection',
      CHECKED,
      ({ base }) => ada.call('DELETE', `${at}/branch_protections/${base}`),
    ],
    ['another base', CHECKED, ({ number }) => bob.call('PATCH', `${at}/pulls/${number}`, { base: 'main' })],
    [
      'a push to the head, of what was checked elsewhere',
      CHECKED,
      async ({ head }) => {
        await git(tree, 'checkout', '-q', head);
        const sha = await commit(tree, { [`${head}.txt`]: '2' }, 'more');
        await git(tree, 'push', '-q', 'origin', `${head}:refs/heads/${head}-elsewhere`);
        await say(sha, 'success');
        await git(tree, 'push', '-q', 'origin', head);
      },
    ],
  ])('is brought about by %s', async (_name, options, trigger) => {
    const pull = await open(options);
    if ('block_on_rejected_reviews' in options)
      await cleo.call('POST', `${at}/pulls/${pull.number}/reviews`, { event: 'REQUEST_CHANGES', body: 'no' });
    expect((await schedule(bob, pull.number)).status).toBe(201);
    await settled();
    expect(await isMerged(pull.number)).toBe(404);
    await trigger(pull);
    await merged(pull.number);
  });

  const elsewhere = async () =>
    (await ada.call('POST', '/repos/ada/elsewhere/issues', { title: 'first' })).body.number;
  const wait = async (number: number, method: string, on: number) => {
    const other = { owner: 'ada', repo: 'elsewhere', index: on };
    const { status } = await ada.call(method, `${at}/issues/${number}/dependencies`, other);
    expect(status).toBe(method === 'POST' ? 201 : 200);
  };
  const close = (number: number) =>
    ada.call('PATCH', `/repos/ada/elsewhere/issues/${number}`, { state: 'closed' });
  const turn = async (settings: object) => expect((await ada.call('PATCH', at, settings)).status).toBe(200);

  it.each<[string, (number: number, issues: number[]) => Promise<unknown>]>([
    ['closing the last issue it waits for', (_number, [, last = 0]) => close(last)],
    ['an end of waiting for it', (number, [, last = 0]) => wait(number, 'DELETE', last)],
    ['removing it', (_number, [, last]) => ada.call('DELETE', `/repos/ada/elsewhere/issues/${last}`)],
  ])('is brought about by %s, and not before', async (_what, trigger) => {
    await ada.call('POST', '/user/repos', { name: 'elsewhere' });
    const { number, head } = await open(CHECKED);
    expect((await schedule(bob, number)).status).toBe(201);
    const waitsFor = [await elsewhere(), await elsewhere()];
    for (const issue of waitsFor) await wait(number, 'POST', issue);
    await say(head, 'success');
    await close(waitsFor[0] ?? 0);
    await settled();
    expect([await isMerged(number), (await scheduled(number)).length]).toEqual([404, 1]);
    await trigger(number, waitsFor);
    await merged(number);
  });

  it.each<[string, object, object]>([
    ['its style is allowed again', { allow_rebase: false }, { allow_rebase: true }],
    ['nothing is archived any more', { archived: true }, { archived: false }],
  ])('happens once %s', async (_what, off, on) => {
    await ada.call('POST', '/user/repos', { name: 'elsewhere' });
    const { number, head } = await open(CHECKED);
    expect((await schedule(bob, number, { Do: 'rebase' })).status).toBe(201);
    const issue = await elsewhere();
    await wait(number, 'POST', issue);
    await say(head, 'success');
    await settled();
    await turn(off);
    // Something asks for it meanwhile.
    await close(issue);
    await settled();
    expect((await scheduled(number)).length).toBe(1);
    await turn(on);
    await merged(number);
    expect((await ada.call('GET', `${at}/pulls/${number}`)).body).toMatchObject({
      merged_by: { login: 'bob' },
    });
  });

  it('outlives a title that says work in progress and a base in conflict', async () => {
    const { number, base, head } = await open(CHECKED);
    expect((await schedule(bob, number)).status).toBe(201);
    await bob.call('PATCH', `${at}/pulls/${number}`, { title: 'WIP: x' });
    await say(head, 'success');
    await settled();
    expect([await isMerged(number), (await scheduled(number)).length]).toEqual([404, 1]);
    await git(tree, 'checkout', '-q', '-B', base, `origin/${base}`);
    await commit(tree, { [`${head}.txt`]: 'conflict' }, 'conflict');
    await git(tree, 'push', '-q', 'origin', base);
    await settled();
    await bob.call('PATCH', `${at}/pulls/${number}`, { title: 'x' });
    await settled();
    expect([await isMerged(number), (await scheduled(number)).length]).toEqual([404, 1]);
    await ada.call('PATCH', `${at}/branch_protections/${base}`, { enable_force_push: true });
    await git(tree, 'push', '-q', '-f', 'origin', `main:${base}`);
    await merged(number);
  });

  it('ends when somebody pushes who may not write to the base: nobody has seen his commits', async () => {
    const eve = scene.person('eve');
    await eve.call('GET', '/user');
    await eve.call('POST', `${at}/forks`, { name: 'eves' });
    const fork = join(scene.folder, 'eves');
    await git(scene.folder, 'clone', '-q', eve.remote('eve/eves'), fork);
    await commit(fork, { 'harmless.txt': '1' }, 'harmless');
    await git(fork, 'push', '-q', 'origin', 'HEAD:refs/heads/gift');
    const { body } = await eve.call('POST', `${at}/pulls`, { head: 'eve:gift', base: 'main', title: 'gift' });
    const path = `${at}/statuses/${await git(fork, 'rev-parse', 'HEAD')}`;
    expect((await ada.call('POST', path, { state: 'pending', context: 'ci' })).status).toBe(201);
    expect((await schedule(bob, body.number)).status).toBe(201);
    await settled();
    expect([await isMerged(body.number), (await scheduled(body.number)).length]).toEqual([404, 1]);
    await commit(fork, { 'evil.txt': '1' }, 'evil');
    await git(fork, 'push', '-q', 'origin', 'HEAD:refs/heads/gift');
    await settled();
    expect([await isMerged(body.number), await scheduled(body.number)]).toEqual([404, []]);
    const timeline = (await ada.call('GET', `${at}/issues/${body.number}/timeline`)).items;
    expect(timeline.map(({ type }) => type)).toContain('pull_cancel_scheduled_merge');
  });

  it('attack: does not merge commits of a fork that the pull request has not followed to yet', async () => {
    const mallory = scene.person('mallory');
    await mallory.call('GET', '/user');
    await mallory.call('POST', `${at}/forks`, { name: 'quick' });
    const fork = join(scene.folder, 'quick');
    await git(scene.folder, 'clone', '-q', mallory.remote('mallory/quick'), fork);
    await commit(fork, { 'seen.txt': '1' }, 'seen');
    await git(fork, 'push', '-q', 'origin', 'HEAD:refs/heads/present');
    const wish = { head: 'mallory:present', base: 'main', title: 'present' };
    const { number } = (await mallory.call('POST', `${at}/pulls`, wish)).body;
    const seen = await git(fork, 'rev-parse', 'HEAD');
    await say(seen, 'pending');
    expect((await schedule(bob, number)).status).toBe(201);
    await settled();
    const unseen = await commit(fork, { 'unseen.txt': '1' }, 'unseen');
    await git(fork, 'push', '-q', 'origin', 'HEAD:refs/heads/elsewhere');
    const before = await git(bare, 'for-each-ref');
    // As between a push and its end, which the copy of its commits can put off.
    await git(await scene.bare('mallory', 'quick'), 'update-ref', 'refs/heads/present', unseen);
    const title = { title: 'present, look again' };
    expect((await mallory.call('PATCH', `${at}/pulls/${number}`, title)).status).toBe(201);
    await settled();
    expect([await isMerged(number), (await scheduled(number)).length]).toEqual([404, 1]);
    expect(await git(bare, 'for-each-ref')).toBe(before);
    await commit(fork, { 'more.txt': '1' }, 'more');
    await git(fork, 'push', '-q', 'origin', 'HEAD:refs/heads/present');
    await settled();
    expect([await isMerged(number), await scheduled(number)]).toEqual([404, []]);
  });

  it('ends with another base from somebody who may not write to it', async () => {
    const dan = scene.person('dan');
    await dan.call('GET', '/user');
    const units_map = { 'repo.code': 'read', 'repo.pulls': 'write' };
    await ada.call('POST', '/orgs', { username: 'guild' });
    await ada.call('POST', '/orgs/guild/repos', { name: 'patient', auto_init: true });
    const team = { name: 'triage', permission: 'read', includes_all_repositories: true, units_map };
    const { id } = (await ada.call('POST', '/orgs/guild/teams', team)).body;
    expect((await ada.call('PUT', `/teams/${id}/members/dan`)).status).toBe(204);
    const path = '/repos/guild/patient';
    await ada.call('POST', `${path}/branches`, { new_branch_name: 'dev' });
    const file = { content: 'eA==', new_branch: 'topic', message: 'x' };
    expect((await ada.call('POST', `${path}/contents/x.txt`, file)).status).toBe(201);
    const protection = { rule_name: 'dev', ...CHECKED };
    expect((await ada.call('POST', `${path}/branch_protections`, protection)).status).toBe(201);
    const pull = { head: 'topic', base: 'dev', title: 'topic' };
    const { number } = (await ada.call('POST', `${path}/pulls`, pull)).body;
    const wish = { merge_when_checks_succeed: true };
    expect((await ada.call('POST', `${path}/pulls/${number}/merge`, wish)).status).toBe(201);
    expect((await dan.call('PATCH', `${path}/pulls/${number}`, { base: 'main' })).status).toBe(201);
    await settled();
    expect((await ada.call('GET', `${path}/pulls/${number}/merge`)).status).toBe(404);
    expect((await cancel(ada, number, path)).status).toBe(404);
    const timeline = (await ada.call('GET', `${path}/issues/${number}/timeline`)).items;
    expect(timeline.slice(-2)).toMatchObject([
      { type: 'change_target_branch', user: { login: 'dan' } },
      { type: 'pull_cancel_scheduled_merge', user: { login: 'dan' } },
    ]);
  });

  it.each<[string, (pull: { number: number; head: string; other: string }) => Promise<unknown>]>([
    ['new commits', ({ head }) => pushMore(head, bob)],
    ['another base', ({ number, other }) => bob.call('PATCH', `${at}/pulls/${number}`, { base: other })],
  ])(
    'attack: a writer who may not merge there lands nothing with %s in the name of who may',
    async (_what, change) => {
      const only = { enable_push: false, enable_merge_whitelist: true, merge_whitelist_usernames: ['cleo'] };
      const { number, head, base } = await open(only);
      const other = `${base}-other`;
      await git(tree, 'push', '-q', 'origin', `main:refs/heads/${other}`);
      await ada.call('POST', `${at}/branch_protections`, { rule_name: other, ...only });
      const tips = () => git(bare, 'rev-parse', base, other);
      const before = await tips();
      await say(await git(bare, 'rev-parse', head), 'pending');
      expect((await schedule(cleo, number)).status).toBe(201);
      await settled();
      expect((await scheduled(number)).length).toBe(1);
      await change({ number, head, other });
      await say(await git(bare, 'rev-parse', head), 'success');
      await settled();
      expect([await isMerged(number), await scheduled(number), await tips()]).toEqual([404, [], before]);
      expect((await told(number)).at(-1)?.[0]).toBe('pull_cancel_scheduled_merge');
    },
  );

  it('attack: ends when commits came along that somebody else had brought, whoever pushes on top of them', async () => {
    const only = { enable_merge_whitelist: true, merge_whitelist_usernames: ['ada', 'cleo'] };
    const { number, head } = await open({ ...CHECKED, ...only });
    expect((await schedule(cleo, number)).status).toBe(201);
    await git(tree, 'fetch', '-q', 'origin');
    await git(tree, 'checkout', '-q', '-B', head, `origin/${head}`);
    const unseen = await commit(tree, { 'unseen.txt': '1' }, 'unseen');
    await git(tree, 'push', '-q', bob.remote('ada/patient'), `HEAD:refs/heads/beside-${head}`);
    // As between a push and its end.
    await git(bare, 'update-ref', `refs/heads/${head}`, unseen);
    await pushMore(head, cleo);
    expect(await scheduled(number)).toEqual([]);
    await say(await git(bare, 'rev-parse', head), 'success');
    await settled();
    expect(await isMerged(number)).toBe(404);
  });

  it('stays when somebody pushes whom the base lets merge', async () => {
    const only = { enable_merge_whitelist: true, merge_whitelist_usernames: ['ada', 'cleo'] };
    const { number, head } = await open({ ...CHECKED, ...only });
    expect((await schedule(cleo, number)).status).toBe(201);
    await pushMore(head);
    expect(await scheduled(number)).toHaveLength(1);
    await say(await git(bare, 'rev-parse', head), 'success');
    await merged(number);
  });

  it('stays when a site administrator brings more, who may write everywhere', async () => {
    const { number, head } = await open(CHECKED);
    const root = scene.person('root', { role: 'service_role' });
    expect((await schedule(cleo, number)).status).toBe(201);
    const file = { content: 'eA==', message: 'more', branch: head };
    expect((await root.call('POST', `${at}/contents/more-${head}.txt`, file)).status).toBe(201);
    expect(await scheduled(number)).toHaveLength(1);
    await say(await git(bare, 'rev-parse', head), 'success');
    await merged(number);
  });

  it('ends with its base: nobody chose the branch that the pull request goes to instead', async () => {
    const { number, base, head } = await open();
    await say(head, 'pending');
    expect((await schedule(bob, number)).status).toBe(201);
    expect((await cleo.call('DELETE', `${at}/branches/${base}`)).status).toBe(204);
    expect((await ada.call('GET', `${at}/pulls/${number}`)).body.base).toMatchObject({ ref: 'main' });
    await say(head, 'success');
    await settled();
    expect([await isMerged(number), await scheduled(number)]).toEqual([404, []]);
    expect(await told(number)).toEqual([
      ['pull_scheduled_merge', 'bob'],
      ['pull_cancel_scheduled_merge', 'cleo'],
    ]);
  });

  it('ends with the pull request', async () => {
    const { number } = await open(CHECKED);
    expect((await schedule(bob, number)).status).toBe(201);
    await bob.call('PATCH', `${at}/pulls/${number}`, { state: 'closed' });
    expect(await scheduled(number)).toEqual([]);
    expect((await cancel(bob, number)).status).toBe(404);
  });
});

it('what no waiting mends is not scheduled', async () => {
  const eve = scene.person('eve');
  const { number, base } = await open({
    ...CHECKED,
    enable_merge_whitelist: true,
    merge_whitelist_usernames: ['bob'],
  });
  const before = await stored();
  expect((await schedule(eve, number)).status).toBe(405);
  expect((await schedule(ada, number)).body.message).toBe('User not allowed to merge PR');
  expect((await schedule(bob, number, { Do: 'fast' })).status).toBe(405);
  expect(await stored()).toEqual(before);
  await ada.call('PATCH', `${at}/branch_protections/${base}`, { require_signed_commits: true });
  expect((await schedule(bob, number)).body.message).toMatch(/signed commits only/);
  await bob.call('PATCH', `${at}/pulls/${number}`, { title: 'WIP: x' });
  expect((await schedule(bob, number)).body.message).toBe('Work in progress PRs cannot be merged');
  await bob.call('PATCH', `${at}/pulls/${number}`, { state: 'closed' });
  expect((await schedule(bob, number)).status).toBe(404);
  expect(await scheduled(number)).toEqual([]);
  expect(await told(number)).toEqual([]);
});

describe('cancelling', () => {
  it('is for who scheduled it and who may merge, and is told', async () => {
    const eve = scene.person('eve');
    await eve.call('GET', '/user');
    const { number, head } = await open(CHECKED);
    expect((await cancel(bob, number)).status).toBe(404);
    expect((await schedule(bob, number)).status).toBe(201);
    const before = await stored();
    expect((await cancel(eve, number)).status).toBe(403);
    expect(await stored()).toEqual(before);
    const { status, text } = await cancel(cleo, number);
    expect([status, text]).toEqual([204, '']);
    expect((await cancel(bob, number)).status).toBe(404);
    await say(head, 'success');
    await settled();
    expect(await isMerged(number)).toBe(404);
    expect(await told(number)).toEqual([
      ['pull_scheduled_merge', 'bob'],
      ['pull_cancel_scheduled_merge', 'cleo'],
    ]);
    expect((await schedule(bob, number)).status).toBe(201);
    await merged(number);
  });

  it.each<[string, (login: string) => Promise<unknown>]>([
    ['lost his rights', (login) => ada.call('DELETE', `${at}/collaborators/${login}`)],
    [
      'was banned',
      (login) => scene.sql.run`update :schema.users set refused_at = now() where login = ${login}`,
    ],
    ['is gone', (login) => scene.sql.run`delete from :schema.users where login = ${login}`],
  ])('happens by itself when the scheduler %s', async (name, lose) => {
    const login = `guest-${name.replaceAll(' ', '-')}`;
    const guest = scene.person(login);
    await guest.call('GET', '/user');
    await ada.call('PUT', `${at}/collaborators/${login}`, { permission: 'write' });
    const { number, head } = await open(CHECKED);
    expect((await schedule(guest, number)).status).toBe(201);
    // A look that began before this may still act with what he had then.
    await settled();
    await lose(login);
    await say(head, 'success');
    await settled();
    expect(await isMerged(number)).toBe(404);
    expect(await scheduled(number)).toEqual([]);
    expect((await told(number)).map(([type]) => type)).toEqual([
      'pull_scheduled_merge',
      'pull_cancel_scheduled_merge',
    ]);
  });
});

describe('at the same moment', () => {
  it('the last check and the last review merge it once', async () => {
    const pulls = [];
    for (let index = 0; index < 5; index++) pulls.push(await open({ ...CHECKED, required_approvals: 1 }));
    for (const { number } of pulls) expect((await schedule(bob, number)).status).toBe(201);
    await Promise.all(
      pulls.flatMap(({ number, head }) => [
        say(head, 'success'),
        cleo.call('POST', `${at}/pulls/${number}/reviews`, { event: 'APPROVED' }),
        say(head, 'success'),
      ]),
    );
    for (const { number, base } of pulls) {
      await merged(number);
      expect((await git(bare, 'rev-list', '--merges', base, '^main')).split('\n')).toHaveLength(1);
    }
    await settled();
    expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
  });

  it('a cancellation and the last check: it is cancelled or merged, never both', async () => {
    const outcomes = [];
    for (let index = 0; index < 6; index++) {
      const { number, head } = await open(CHECKED);
      expect((await schedule(bob, number)).status).toBe(201);
      await settled();
      const [answer] = await Promise.all([cancel(bob, number), say(head, 'success')]);
      await settled();
      outcomes.push([answer.status, await isMerged(number)]);
    }
    for (const outcome of outcomes)
      expect([
        [204, 404],
        [404, 204],
      ]).toContainEqual(outcome);
  });

  it('two who schedule it: one does', async () => {
    const { number } = await open(CHECKED);
    const answers = await Promise.all([schedule(bob, number), schedule(cleo, number), schedule(ada, number)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect(await told(number)).toHaveLength(1);
  });
});
