import { setTimeout as sleep } from 'node:timers/promises';
import { silentLog } from '@croft/runtime';
import { type Database, openDatabase, type Tx } from '@croft/sql';
import { git } from '@croft/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { announce } from '../src/events/announce.ts';
import { commit, type Person, pushBranch, pushedRepository, type Reply, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';

// Merges that meet something else in the middle: whoever comes second is told so.

/** Who stands in a queue shows nowhere. */
const ARRIVED_MS = 1_000;
const scene = useForge();
const path = '/repos/ada/work/pulls';
let ada: Person;
let tree: string;
let bare: string;
let database: Database;
beforeAll(async () => {
  ada = scene.person('ada');
  tree = await pushedRepository(ada, 'work', scene.folder);
  bare = await scene.bare('ada', 'work');
  await pushBranch(tree, 'other', { 'other.txt': 'other\n' }, 'origin/main');
  database = openDatabase({ url: scene.databaseUrl, schema: 'forge', log: silentLog });
});
afterAll(() => database.close());

async function pull(branch: string): Promise<number> {
  await git(tree, 'fetch', '-q', 'origin');
  await pushBranch(tree, branch, { [`${branch}.txt`]: `${branch}\n` }, 'origin/main');
  const { body } = await ada.call('POST', path, { head: branch, base: 'main', title: branch });
  return body.number;
}
const merge = (number: number) => ada.call('POST', `${path}/${number}/merge`, {});
const toOther = (number: number) => ada.call('PATCH', `${path}/${number}`, { base: 'other' });
async function baseOf(number: number): Promise<string> {
  const { text } = await ada.call('GET', `${path}/${number}`);
  return (JSON.parse(text) as { base: { ref: string } }).base.ref;
}
const isMerged = async (number: number) => (await ada.call('GET', `${path}/${number}/merge`)).status === 204;

/** As many statements wait for locks. */
async function someWait(count: number): Promise<void> {
  const waiting = async () =>
    (
      await database.autocommit().row<{ count: number }>`
      select count(*) from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`
    )?.count;
  await expect.poll(waiting).toBe(count);
}

/** Does something while a transaction of somebody else goes on. */
async function during<T>(hold: (tx: Tx) => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  const held = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const holding = database.transaction(async (tx) => {
    await hold(tx);
    held.resolve();
    await over.promise;
  });
  await held.promise;
  try {
    return await work();
  } finally {
    over.resolve();
    await holding;
  }
}

const holdIssue = (number: number) => (tx: Tx) =>
  tx.run`select from :schema.issues where number = ${number} for update`;

/**
 * Makes a request wait in its turn, as its issue is held, and another one in the queue behind it.
 * @param meanwhile happens while both wait
 */
async function behind(
  number: number,
  one: () => Promise<Reply>,
  other: () => Promise<Reply>,
  meanwhile: () => Promise<unknown> = async () => {},
): Promise<[Reply, Reply]> {
  const [first, second] = await during(holdIssue(number), async () => {
    const ahead = one();
    await someWait(1);
    const waiting = other();
    await sleep(ARRIVED_MS);
    await meanwhile();
    return [ahead, waiting] as const;
  });
  return [await first, await second];
}

it('another base for what is being merged is refused', async () => {
  const number = await pull('merged-first');
  const [merging, editing] = await behind(
    number,
    () => merge(number),
    () => toOther(number),
  );
  expect([merging.status, editing.status]).toEqual([200, 409]);
  expect(await baseOf(number)).toBe('main');
  const { text } = await ada.call('GET', `/repos/ada/work/issues/${number}/timeline`);
  expect(text).not.toContain('change_target_branch');
  // Of one that is merged already it stays what it was, as ever.
  expect((await toOther(number)).status).toBe(201);
  expect(await baseOf(number)).toBe('main');
});

it('a merge into a branch that is no longer the base is refused', async () => {
  const number = await pull('edited-first');
  const before = await git(bare, 'for-each-ref', 'refs/heads');
  const [editing, merging] = await behind(
    number,
    () => toOther(number),
    () => merge(number),
  );
  expect([editing.status, merging.status]).toEqual([201, 409]);
  expect(await git(bare, 'for-each-ref', 'refs/heads')).toBe(before);
  expect(await isMerged(number)).toBe(false);
  expect(await rowsOf(scene, 'merges')).toEqual([[]]);
  expect(await baseOf(number)).toBe('other');
  expect((await merge(number)).status).toBe(200);
});

const update = (number: number) => ada.call('POST', `${path}/${number}/update`);

it.each([
  ['merged', merge, 200],
  ['closed', (number: number) => ada.call('PATCH', `${path}/${number}`, { state: 'closed' }), 201],
])('an update of what is %s meanwhile is refused', async (what, end, status) => {
  const branch = `updated-when-${what}`;
  const number = await pull(branch);
  await git(tree, 'fetch', '-q', 'origin');
  await pushBranch(tree, 'main', { [`ahead-of-${what}`]: '1' }, 'origin/main');
  const head = await git(bare, 'rev-parse', branch);
  const [ending, updating] = await behind(
    number,
    () => end(number),
    () => update(number),
  );
  expect([ending.status, updating.status]).toEqual([status, 422]);
  expect(updating.body.message).toContain(what);
  expect(await git(bare, 'rev-parse', branch)).toBe(head);
  expect(await rowsOf(scene, 'pushes')).toEqual([[]]);
});

it('an update of what gets another base meanwhile is up to that one', async () => {
  const number = await pull('updated-when-edited');
  await git(tree, 'fetch', '-q', 'origin');
  await pushBranch(tree, 'main', { 'only-on-main': '1' }, 'origin/main');
  const [editing, updating] = await behind(
    number,
    () => toOther(number),
    () => update(number),
  );
  expect([editing.status, updating.status]).toEqual([201, 200]);
  const subject = await git(bare, 'log', '-1', '--format=%s', 'updated-when-edited');
  expect(subject).toBe("Merge branch 'other' into updated-when-edited");
  const files = await git(bare, 'ls-tree', '--name-only', 'updated-when-edited');
  expect([files.includes('other.txt'), files.includes('only-on-main')]).toEqual([true, false]);
});

it('a merge into what is archived meanwhile is refused', async () => {
  const [first, second] = [await pull('before-the-end'), await pull('after-the-end')];
  const archive = (archived: boolean) =>
    scene.sql.run`update :schema.repositories set archived = ${archived} where name = 'work'`;
  const [merging, waiting] = await behind(
    first,
    () => merge(first),
    () => merge(second),
    () => archive(true),
  );
  await archive(false);
  expect([merging.status, waiting.status]).toEqual([200, 423]);
  expect(await isMerged(second)).toBe(false);
  expect(await rowsOf(scene, 'merges')).toEqual([[]]);
  expect(await git(bare, 'ls-tree', '--name-only', 'main')).not.toContain('after-the-end');
  expect((await merge(second)).status).toBe(200);
});

it('a head that becomes the default branch meanwhile stays when it is merged', async () => {
  const number = await pull('to-be-default');
  const choose = (branch: string) => ada.call('PATCH', '/repos/ada/work', { default_branch: branch });
  const [merging, choosing] = await behind(
    number,
    () => ada.call('POST', `${path}/${number}/merge`, { delete_branch_after_merge: true }),
    () => choose('to-be-default'),
  );
  expect([merging.status, choosing.status]).toEqual([403, 200]);
  expect(await isMerged(number)).toBe(true);
  expect(await git(bare, 'rev-parse', 'HEAD')).toBe(await git(bare, 'rev-parse', 'to-be-default'));
  expect((await choose('main')).status).toBe(200);
});

it.each(['at once', 'at last'])(
  'an approval that is given %s while the base changes does not count',
  async (when) => {
    const name = `approves-${when.replace(' ', '-')}`;
    const number = await pull(name);
    const cleo = scene.person(name);
    await cleo.call('GET', '/user');
    await ada.call('PUT', `/repos/ada/work/collaborators/${name}`, { permission: 'write' });
    const at = `${path}/${number}/reviews`;
    const pending =
      when === 'at last' ? (await cleo.call('POST', at, { event: 'PENDING' })).body.id : undefined;
    const verdict = { event: 'APPROVED', body: 'fine' };
    const requests = await during(holdIssue(number), async () => {
      const editing = toOther(number);
      await someWait(1);
      const approving = cleo.call('POST', pending === undefined ? at : `${at}/${pending}`, verdict);
      await someWait(2);
      return [editing, approving];
    });
    const [editing, approving] = await Promise.all(requests);
    expect([editing?.status, approving?.status]).toEqual([201, 200]);
    expect(approving?.body).toMatchObject({ state: 'APPROVED', official: false });
    expect((await cleo.call('POST', at, verdict)).body).toMatchObject({ state: 'APPROVED', official: true });
  },
);

it.each<[string, (number: number, branch: string) => Promise<unknown>, RegExp]>([
  ['gets another base', (number) => toOther(number), /^the base branch was updated meanwhile/],
  [
    'gets other commits',
    (_number, branch) => pushBranch(tree, branch, { [`${branch}.txt`]: 'more\n' }, branch),
    /^head out of date$/,
  ],
])(
  'what %s while its merge is scheduled is not scheduled: nobody looked at that',
  async (what, change, why) => {
    const branch = `scheduled-${what.replaceAll(' ', '-')}`;
    const number = await pull(branch);
    const [changed, scheduling] = await during(holdIssue(number), async () => {
      const changing = change(number, branch);
      await someWait(1);
      const asked = ada.call('POST', `${path}/${number}/merge`, { merge_when_checks_succeed: true });
      await someWait(2);
      return [changing, asked] as const;
    });
    await changed;
    const { status, body } = await scheduling;
    expect([status, body.message]).toEqual([409, expect.stringMatching(why)]);
    expect(await rowsOf(scene, 'scheduled_merges')).toEqual([[]]);
    const { text } = await ada.call('GET', `/repos/ada/work/issues/${number}/timeline`);
    expect(text).not.toContain('pull_scheduled_merge');
    expect(await isMerged(number)).toBe(false);
  },
);

it('a merge that somebody else announces in the same moment is refused', async () => {
  const number = await pull('twin');
  const before = await git(bare, 'for-each-ref', 'refs/heads');
  const merging = await during(
    (tx) => tx.run`
      insert into :schema.merges (pull_id, merged_by, base_branch, base_sha, head_sha, merge_base, commit_sha, started_at)
      select p.id, i.poster_id, p.base_branch, p.head_sha, p.head_sha, p.head_sha, ${'1'.repeat(40)}, ${tx.now}
      from :schema.pulls p join :schema.issues i on i.id = p.issue_id where i.number = ${number}`,
    async () => {
      const request = merge(number);
      await someWait(1);
      return { request };
    },
  );
  expect((await merging.request).status).toBe(409);
  expect(await git(bare, 'for-each-ref', 'refs/heads')).toBe(before);
  expect(await isMerged(number)).toBe(false);
  // The other one never came to its branch; the next finds that out.
  expect((await merge(number)).status).toBe(200);
});

it('a team that may merge does so at once as after waiting, and an owner who is not in it does not', async () => {
  const bob = scene.person('bob');
  await bob.call('GET', '/user');
  await ada.call('POST', '/orgs', { username: 'acme' });
  await ada.call('POST', '/orgs/acme/repos', { name: 'guarded' });
  const at = '/repos/acme/guarded';
  const units = ['repo.code', 'repo.pulls'];
  const team = { name: 'mergers', permission: 'write', units, includes_all_repositories: true };
  const { id } = (await ada.call('POST', '/orgs/acme/teams', team)).body;
  expect((await ada.call('PUT', `/teams/${id}/members/bob`)).status).toBe(204);
  const remote = ada.remote('acme/guarded');
  await git(tree, 'push', '-q', remote, 'origin/main:refs/heads/main');
  const numbers: number[] = [];
  for (const branch of ['team-1', 'team-2', 'team-3', 'team-4']) {
    await git(tree, 'checkout', '-q', '-b', branch, 'origin/main');
    await commit(tree, { [branch]: branch }, branch);
    await git(tree, 'push', '-q', remote, branch);
    const opened = { head: branch, base: 'main', title: branch };
    numbers.push((await ada.call('POST', `${at}/pulls`, opened)).body.number);
  }
  const [first = 0, second = 0, third = 0, fourth = 0] = numbers;
  const listed = { enable_merge_whitelist: true, merge_whitelist_teams: ['mergers'] };
  const protection = { rule_name: 'main', enable_push: true, ...listed };
  expect((await ada.call('POST', `${at}/branch_protections`, protection)).status).toBe(201);
  const guarded = await scene.bare('acme', 'guarded');
  const stored = () =>
    Promise.all([git(guarded, 'for-each-ref'), rowsOf(scene, 'issues', 'pulls', 'comments', 'merges')]);
  const ask = (number: number, who: Person) => who.call('POST', `${at}/pulls/${number}/merge`, {});

  const before = await stored();
  const refused = await ask(first, ada);
  expect([refused.status, refused.body.message]).toEqual([405, 'User not allowed to merge PR']);
  expect(await stored()).toEqual(before);
  expect((await ask(first, bob)).status).toBe(200);

  const requests = await during(holdIssue(second), async () => {
    const merging = ask(second, bob);
    await someWait(1);
    const waiting = [ask(third, bob), ask(fourth, ada)];
    // In the queue behind the merge.
    await sleep(ARRIVED_MS);
    return [merging, ...waiting];
  });
  expect((await Promise.all(requests)).map(({ status }) => status)).toEqual([200, 200, 405]);
  const subjects = await git(guarded, 'log', '--first-parent', '--format=%s', '-3', 'main');
  expect(subjects.match(/#\d/g)?.sort()).toEqual([first, second, third].map((number) => `#${number}`));
  expect((await ada.call('GET', `${at}/pulls/${fourth}/merge`)).status).toBe(404);
});

it('a push to a fork while its pull request is reopened is not lost', async () => {
  const eve = scene.person('eve');
  await eve.call('GET', '/user');
  const forked = await eve.call('POST', '/repos/ada/work/forks', { name: 'eves' });
  expect(forked.status, forked.text).toBe(202);
  const isThere = async () => (await eve.call('GET', '/repos/eve/eves/branches/main')).status;
  await expect.poll(isThere).toBe(200);
  await git(tree, 'fetch', '-q', 'origin');
  await git(tree, 'checkout', '-q', '-b', 'reopened', 'origin/main');
  await commit(tree, { reopened: '1' }, 'one');
  await git(tree, 'push', '-q', eve.remote('eve/eves'), 'reopened');
  const opened = { head: 'eve:reopened', base: 'main', title: 'reopened' };
  const { number } = (await eve.call('POST', path, opened)).body;
  await eve.call('PATCH', `${path}/${number}`, { state: 'closed' });
  const next = await commit(tree, { reopened: '2' }, 'two');
  const reopening = await during(holdIssue(number), async () => {
    const request = eve.call('PATCH', `${path}/${number}`, { state: 'open' });
    await someWait(1);
    // It has seen the head, and the push sees that it is closed.
    await git(tree, 'push', '-q', eve.remote('eve/eves'), 'reopened');
    return { request };
  });
  expect((await reopening.request).status).toBe(201);
  const row = await scene.sql.row`
    select head_sha, written_sha from :schema.pulls p join :schema.issues i on i.id = p.issue_id
      join :schema.repositories r on r.id = i.repository_id where r.name = 'work' and i.number = ${number}`;
  expect(row).toEqual({ head_sha: next, written_sha: next });
  expect(await git(bare, 'rev-parse', `refs/pull/${number}/head`)).toBe(next);
});

it.each([
  [
    'given another base',
    (id: number) => scene.sql.run`update :schema.pulls set base_branch = 'other' where id = ${id}`,
  ],
  [
    'closed',
    (id: number) => scene.sql.run`
      update :schema.issues set closed_at = now() where id = (select issue_id from :schema.pulls where id = ${id})`,
  ],
])('the head of what is %s while its rebase waits stays where it is', async (what, change) => {
  const [lower, upper] = [`lower ${what}`, `upper ${what}`].map((name) => name.replaceAll(' ', '-')) as [
    string,
    string,
  ];
  const blocked = await pull(`holds-${lower}`);
  await git(tree, 'fetch', '-q', 'origin');
  const before = await pushBranch(tree, lower, { [lower]: '1' }, 'origin/main');
  const head = await pushBranch(tree, upper, { [upper]: '1' }, lower);
  const { id } = (await ada.call('POST', path, { head: upper, base: lower, title: upper })).body;
  const after = await pushBranch(tree, lower, { [lower]: '2' }, 'origin/main');
  await expect.poll(() => rowsOf(scene, 'outbox', 'pushes')).toEqual([[], []]);
  const { repositoryId, actorId } = (await scene.sql.row<{ repositoryId: number; actorId: number }>`
    select id as "repositoryId", owner_id as "actorId" from :schema.repositories where name = 'work'`) as never;
  await during(holdIssue(blocked), async () => {
    // Has the turn, and waits in it.
    const ahead = toOther(blocked);
    await someWait(1);
    const ref = { kind: 'ref', ref: `refs/heads/${lower}`, before, after, restacked: true } as const;
    await database.transaction((tx) => announce(tx, { ...ref, repositoryId, actorId }));
    await sleep(ARRIVED_MS);
    await change(id as number);
    return ahead;
  });
  await expect.poll(() => rowsOf(scene, 'outbox', 'pushes')).toEqual([[], []]);
  expect(await git(bare, 'rev-parse', upper)).toBe(head);
});
