import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { git, gitEnvironment } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { recordHappenings } from './happenings.ts';

// Pushes for review (AGit), by git's own client.

const scene = useForge();
let ada: Person;
/** Reads what is public and nothing else. */
let bob: Person;
let eve: Person;
/** Bob's clone. */
let clone: string;
let tree: string;
let bare: string;
beforeAll(async () => {
  [ada, bob, eve] = [scene.person('ada'), scene.person('bob'), scene.person('eve')];
  for (const person of [ada, bob, eve]) await person.call('GET', '/user');
  tree = await pushedRepository(ada, 'work', scene.folder);
  await git(tree, 'push', '-q', 'origin', 'main:release/1');
  bare = await scene.bare('ada', 'work');
  clone = join(scene.folder, 'bobs');
  await git(scene.folder, 'clone', '-q', bob.remote('ada/work'), clone);
  await recordHappenings(scene);
});

const path = '/repos/ada/work/pulls';

/** Pushes and gives all that its user sees. */
function push(who: Person, ...args: string[]): Promise<{ code: number; said: string }> {
  return pushTo('ada/work', who, ...args);
}
function pushTo(repository: string, who: Person, ...args: string[]): Promise<{ code: number; said: string }> {
  const options = { cwd: clone, env: gitEnvironment };
  const isRef = (arg: string) => /^[^=]*:refs\//.test(arg);
  const flags = args.filter((arg) => !isRef(arg));
  const all = ['push', ...flags, who.remote(repository), ...args.filter(isRef)];
  return new Promise((resolve) => {
    execFile('git', all, options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : 1, said: stdout + stderr }),
    );
  });
}
/** A new commit on top of the base, or of what the clone is at. */
async function work(message: string, from: 'base' | 'here' = 'base'): Promise<string> {
  if (from === 'base') {
    await git(clone, 'fetch', '-q', bob.remote('ada/work'), 'main');
    await git(clone, 'checkout', '-q', '--detach', 'FETCH_HEAD');
  }
  return await commit(clone, { [`${randomBytes(4).toString('hex')}.txt`]: message }, message);
}
const numberIn = (said: string) =>
  Number(/pull request #(\d+):\s+remote:\s+http:\S+\/ada\/work\/pulls\/\1\b/.exec(said)?.[1]);
async function review(topic: string, message = topic, ...more: string[]): Promise<number> {
  await work(message);
  const { code, said } = await push(bob, `HEAD:refs/for/main/${topic}`, ...more);
  expect([code, said]).toEqual([0, expect.stringContaining('Created')]);
  return numberIn(said);
}
const show = async (number: number, who = bob) => (await who.call('GET', `${path}/${number}`)).body;
const branches = () =>
  git(bare, 'for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads', 'refs/tags');
const stored = async () => [
  await git(bare, 'for-each-ref'),
  await scene.sql.rows`select * from :schema.issues order by id`,
  await scene.sql.rows`select * from :schema.pulls order by id`,
  await scene.sql.rows`select * from :schema.comments order by id`,
  await scene.sql.rows`select * from :schema.pushes order by id`,
  await scene.sql
    .rows`select id, last_number, pulls, closed_pulls, branches from :schema.repositories order by id`,
  await scene.sql.rows`select payload from :schema.told order by id`,
];
/** A push of which nothing may stay. */
async function refused(who: Person, args: readonly string[], reason: RegExp | string): Promise<void> {
  const before = await stored();
  const { code, said } = await push(who, ...args);
  expect([code, said]).toEqual([1, expect.stringMatching(reason)]);
  expect(await stored()).toEqual(before);
}

describe('a push for review', () => {
  it('makes a pull request of somebody who only reads, and no branch', async () => {
    const before = await branches();
    await work('First words\n\nAnd why.\n\ncloses nothing');
    const head = await work('second', 'here');
    const { code, said } = await push(bob, 'HEAD:refs/for/main/fix/typo');
    expect(code).toBe(0);
    expect(said).toMatch(/remote: Created pull request #1:\s+remote: {3}http:\S+\/ada\/work\/pulls\/1\s/);
    expect(await show(1, eve)).toMatchObject({
      title: 'First words',
      body: 'And why.\n\ncloses nothing',
      user: { login: 'bob' },
      state: 'open',
      draft: false,
      mergeable: true,
      flow: 1,
      allow_maintainer_edit: false,
      changed_files: 2,
      base: { ref: 'main', repo: { full_name: 'ada/work' } },
      head: { label: '', ref: 'refs/pull/1/head', sha: head, repo: { full_name: 'ada/work' } },
    });
    const [listed] = (await eve.call('GET', path)).items;
    expect(await show(1, eve)).toMatchObject(listed as object);
    expect((await eve.call('GET', `${path}/1.diff`)).text).toContain('+second');
    expect((await eve.call('GET', `${path}/1/commits`)).items).toHaveLength(2);
    expect(await git(bare, 'rev-parse', 'refs/pull/1/head')).toBe(head);
    expect(await branches()).toBe(before);
    expect(await git(bare, 'for-each-ref', 'refs/staged', 'refs/for')).toBe('');
    expect(await scene.sql.rows`select * from :schema.pushes`).toEqual([]);
    const told = await scene.sql.rows<{ payload: object }>`select payload from :schema.told order by id`;
    expect(told.map(({ payload }) => payload)).toEqual([
      expect.objectContaining({ kind: 'issue', action: 'opened' }),
    ]);
  });

  it('takes topic, title and text from options, and is a draft where it says so', async () => {
    await work('words of the commit');
    const words = ['-o', 'topic=by-option', '-o', 'title=T: of all', '-o', 'description=D'];
    const { said } = await push(bob, 'HEAD:refs/for/release/1', ...words);
    expect(await show(numberIn(said))).toMatchObject({
      title: 'T: of all',
      body: 'D',
      base: { ref: 'release/1' },
    });
    const draft = await push(bob, 'HEAD:refs/draft/release/1/by-path', '-o', 'topic=unused');
    expect(await show(numberIn(draft.said))).toMatchObject({
      title: 'WIP: words of the commit',
      draft: true,
      mergeable: false,
    });
    const again = await push(bob, 'HEAD:refs/for-review/main/by-path');
    expect(await show(numberIn(again.said))).toMatchObject({
      title: 'words of the commit',
      base: { ref: 'main' },
    });
  });

  it('updates the pull request of the same topic, and tells of it as of any push', async () => {
    const number = await review('growing', 'one');
    const first = (await show(number)).head.sha;
    expect((await ada.call('POST', `${path}/${number}/reviews`, { event: 'APPROVED' })).status).toBe(200);
    const second = await work('two', 'here');
    // With the login before it, as clients do that know only names of branches.
    const { said } = await push(bob, 'HEAD:refs/for/main/bob/growing', '-o', 'title=unused');
    expect([numberIn(said), said]).toEqual([number, expect.stringContaining('Updated')]);
    expect(await show(number)).toMatchObject({ title: 'one', head: { sha: second } });
    expect(await git(bare, 'rev-parse', `refs/pull/${number}/head`)).toBe(second);
    const [given] = (await ada.call('GET', `${path}/${number}/reviews`)).items;
    expect(given).toMatchObject({ state: 'APPROVED', stale: true });
    const { items } = await ada.call('GET', `/repos/ada/work/issues/${number}/timeline`);
    const pushed = items.filter((entry) => entry['type'] === 'pull_push');
    expect(pushed).toMatchObject([{ user: { login: 'bob' } }, { user: { login: 'bob' } }]);
    expect(pushed.map((entry) => JSON.parse(String(entry['body'])))).toEqual([
      { is_force_push: false, commit_ids: [first] },
      { is_force_push: false, commit_ids: [second] },
    ]);
    const [told] = await scene.sql.rows`
      select payload from :schema.told where payload->>'action' = 'synchronized' order by id desc limit 1`;
    expect(told).toMatchObject({ payload: { head: { before: first, after: second } } });
    const same = await push(bob, 'HEAD:refs/for/main/growing');
    expect([same.code, same.said]).toEqual([
      0,
      expect.stringContaining(`Nothing new for pull request #${number}`),
    ]);
  });

  it('leaves commits out only by force', async () => {
    const number = await review('rewritten', 'one');
    const before = (await show(number)).head.sha;
    const other = await work('other');
    await refused(bob, ['HEAD:refs/for/main/rewritten'], /-o force-push=true/);
    // git's own force means the client's refs.
    await refused(
      bob,
      ['-f', 'HEAD:refs/for/main/rewritten', '-o', 'force-push=false'],
      /-o force-push=true/,
    );
    expect((await push(bob, 'HEAD:refs/for/main/rewritten', '-o', 'force-push=true')).code).toBe(0);
    expect((await show(number)).head.sha).toBe(other);
    const { items } = await ada.call('GET', `/repos/ada/work/issues/${number}/timeline`);
    expect(JSON.parse(String(items.at(-1)?.['body']))).toEqual({
      is_force_push: true,
      commit_ids: [before, other],
    });
    await work('third');
    expect((await push(bob, 'HEAD:refs/for/main/rewritten', '-o', 'force-push')).code).toBe(0);
  });

  it('is a new pull request once the other is closed, which then cannot be opened beside it', async () => {
    const number = await review('again');
    await bob.call('PATCH', `${path}/${number}`, { state: 'closed' });
    const next = await review('again');
    expect(next).toBeGreaterThan(number);
    expect((await bob.call('PATCH', `${path}/${number}`, { state: 'open' })).status).toBe(409);
    await bob.call('PATCH', `${path}/${next}`, { state: 'closed' });
    const head = (await show(number)).head.sha;
    expect((await bob.call('PATCH', `${path}/${number}`, { state: 'open' })).status).toBe(201);
    expect(await show(number)).toMatchObject({ state: 'open', head: { sha: head } });
  });

  it('of the same topic by two at once is one pull request each, and two at once of one are one', async () => {
    await work('raced');
    const pushes = await Promise.all(
      [bob, eve, bob, eve].map((who) => push(who, 'HEAD:refs/for/main/raced')),
    );
    const numbers = pushes.map(({ said }) => numberIn(said));
    expect(new Set(numbers).size).toBe(2);
    expect(numbers[0]).toBe(numbers[2]);
    expect(numbers[1]).toBe(numbers[3]);
  });

  it('goes along with branches of somebody who may push them', async () => {
    await git(tree, 'checkout', '-q', '-B', 'both', 'origin/main');
    const head = await commit(tree, { 'both.txt': 'both' }, 'both');
    const before = (await git(bare, 'for-each-ref', 'refs/pull')).split('\n').length;
    await git(tree, 'push', '-q', 'origin', 'HEAD:refs/heads/both', 'HEAD:refs/for/main/both');
    expect(await git(bare, 'rev-parse', 'refs/heads/both')).toBe(head);
    expect((await git(bare, 'for-each-ref', 'refs/pull')).split('\n')).toHaveLength(before + 1);
  });
});

describe('a pull request that was pushed for review', () => {
  it.each(['merge', 'rebase', 'rebase-merge', 'squash', 'fast-forward-only'])(
    'is merged by %s',
    async (style) => {
      await ada.call('PATCH', '/repos/ada/work', { allow_fast_forward_only_merge: true });
      const number = await review(`by-${style}`);
      const head = (await show(number)).head.sha;
      const merge = { Do: style, delete_branch_after_merge: true };
      expect((await ada.call('POST', `${path}/${number}/merge`, merge)).status).toBe(200);
      const merged = await show(number);
      expect(merged).toMatchObject({
        merged: true,
        state: 'closed',
        head: { sha: head, ref: `refs/pull/${number}/head` },
      });
      expect(await git(bare, 'rev-parse', 'main')).toBe(merged.merge_commit_sha);
      if (style === 'merge')
        expect(await git(bare, 'log', '-1', '--format=%s', 'main')).toBe(
          `Merge pull request 'by-merge' (#${number}) from bob/by-merge into main`,
        );
      expect(await git(bare, 'fsck', '--full', '--strict', '--no-dangling')).toBe('');
      // Merged is merged: the next push of the topic is another one.
      await work('later', 'here');
      const next = await push(bob, `HEAD:refs/for/main/by-${style}`);
      expect(numberIn(next.said)).toBeGreaterThan(number);
    },
  );

  it('has no branch to be updated, deleted or kept from its base', async () => {
    const number = await review('odd');
    const before = await stored();
    const updated = await ada.call('POST', `${path}/${number}/update`);
    expect([updated.status, updated.body.message]).toEqual([422, expect.stringContaining('no head branch')]);
    const allowed = await bob.call('PATCH', `${path}/${number}`, { allow_maintainer_edit: true });
    expect(allowed.status).toBe(403);
    expect(await stored()).toEqual(before);
    // A branch of the name it is called by is another thing.
    await pushBranch(tree, 'bob/odd', { 'odd.txt': 'odd' }, 'origin/main');
    const head = (await show(number)).head.sha;
    expect(await show(number)).toMatchObject({ head: { ref: `refs/pull/${number}/head` } });
    expect(await git(tree, 'rev-parse', 'bob/odd')).not.toBe(head);
    await git(tree, 'push', '-q', 'origin', ':bob/odd');
    expect(await show(number)).toMatchObject({ state: 'open', head: { sha: head } });
  });

  it('gets another base, by hand and when that is gone, and keeps its topic there', async () => {
    const number = await review('moving');
    await git(tree, 'push', '-q', 'origin', 'origin/main:refs/heads/next');
    expect((await bob.call('PATCH', `${path}/${number}`, { base: 'next' })).body.base).toMatchObject({
      ref: 'main',
    });
    expect((await ada.call('PATCH', `${path}/${number}`, { base: 'next' })).status).toBe(201);
    const other = await review('moving');
    expect(other).not.toBe(number);
    expect((await ada.call('PATCH', `${path}/${number}`, { base: 'main' })).status).toBe(409);
    await bob.call('PATCH', `${path}/${other}`, { state: 'closed' });
    await git(tree, 'push', '-q', 'origin', ':next');
    expect(await show(number)).toMatchObject({ state: 'open', base: { ref: 'main' } });
    await work('more', 'here');
    await git(clone, 'reset', '-q', '--soft', (await show(number)).head.sha);
    await git(clone, 'commit', '-q', '-m', 'on it');
    expect(numberIn((await push(bob, 'HEAD:refs/for/main/moving')).said)).toBe(number);
  });

  it('outlives forks, and its poster another name', async () => {
    const number = await review('lasting');
    const fork = await bob.call('POST', '/repos/ada/work/forks', { name: 'bobs-fork' });
    expect(fork.status).toBe(202);
    await bob.call('DELETE', '/repos/bob/bobs-fork');
    expect(await show(number)).toMatchObject({ state: 'open' });
    await scene.sql.run`update :schema.users set login = 'robert' where login = 'bob'`;
    await work('by another name', 'here');
    expect(numberIn((await push(bob, 'HEAD:refs/for/main/lasting')).said)).toBe(number);
    await scene.sql.run`update :schema.users set login = 'bob' where login = 'robert'`;
  });

  it('has its ref after a crash between its row and that', async () => {
    const number = await review('crashed');
    const head = (await show(number)).head.sha;
    await scene.restart(async () => {
      await git(bare, 'update-ref', '-d', `refs/pull/${number}/head`);
      await git(bare, 'update-ref', 'refs/staged/9/0', head);
      await scene.sql.run`update :schema.pulls set written_sha = null where head_sha = ${head}`;
      await scene.sql.run`
        insert into :schema.pushes (repository_id, actor_id, details, started_at)
        select id, owner_id, '{"moves": []}', now() from :schema.repositories where name = 'work'`;
    });
    expect(
      await git(bare, 'for-each-ref', '--format=%(objectname)', 'refs/staged', `refs/pull/${number}`),
    ).toBe(head);
    expect(await scene.sql.rows`select * from :schema.pushes`).toEqual([]);
    await work('after it', 'here');
    expect(numberIn((await push(bob, 'HEAD:refs/for/main/crashed')).said)).toBe(number);
  });
});

describe('nothing comes of a push for review', () => {
  it.each([
    ['a topic that is none', ['HEAD:refs/for/main'], /it has no topic/],
    ['a topic with a way out', ['HEAD:refs/for/main', '-o', 'topic=../../heads/main'], /no possible name/],
    ['a topic that is an expression', ['HEAD:refs/for/main', '-o', 'topic=x@{1}'], /no possible name/],
    ['a branch that is not there', ['HEAD:refs/for/none/x'], /no such branch/],
    ['a tag for a branch', ['HEAD:refs/for/refs/tags/x'], /no such branch/],
    [
      'a title that is too long',
      ['HEAD:refs/for/main/x', '-o', `title=${'x'.repeat(256)}`],
      /MaxSize\(255\)/,
    ],
    [
      'a force that is none',
      ['HEAD:refs/for/main/x', '-o', 'force-push=maybe'],
      /true or false, not 'maybe'/,
    ],
    ['commits the base has', ['FETCH_HEAD:refs/for/main/x'], /main has these commits already/],
    ['a tree', ['HEAD^{tree}:refs/for/main/x'], /only commits can be reviewed/],
    ['a deletion', [':refs/for/main/x'], /remote ref does not exist|close the pull request/],
    ['eleven', Array.from({ length: 11 }, (_, n) => `HEAD:refs/for/main/${n}`), /more than 10 reviews/],
    ['a part of a whole', ['--atomic', 'HEAD:refs/for/main/x', 'HEAD:refs/for/main/y'], /atomic/],
  ])('with %s', async (_, args, reason) => {
    await work('for nothing');
    await refused(bob, args, reason);
  });

  it('of strangers to a private repository, and of readers whose other refs stay as refused as they are', async () => {
    const secret = await pushedRepository(ada, 'secret', scene.folder, { private: true });
    const before = await stored();
    expect((await pushTo('ada/secret', eve, 'HEAD:refs/for/main/x')).said).toContain('not found');
    expect(await stored()).toEqual(before);
    await ada.call('PUT', '/repos/ada/secret/collaborators/eve', { permission: 'read' });
    await git(clone, 'fetch', '-q', ada.remote('ada/secret'), 'main');
    await git(clone, 'checkout', '-q', '--detach', 'FETCH_HEAD');
    await commit(clone, { 'by-eve.txt': 'eve' }, 'by eve');
    const refs = ['refs/heads/main', 'refs/heads/new', 'refs/tags/t', 'refs/pull/1/head', 'refs/notes/x'];
    const mixed = [...refs.map((ref) => `HEAD:${ref}`), 'HEAD:refs/for/main/eve'];
    const { code, said } = await pushTo('ada/secret', eve, ...mixed);
    expect(code).toBe(1);
    for (const ref of refs)
      expect(said).toMatch(
        new RegExp(`remote rejected\\] HEAD -> ${ref.replace('refs/heads/', '').replace('refs/tags/', '')}`),
      );
    expect(said).toContain('Created pull request #1');
    expect(await git(await scene.bare('ada', 'secret'), 'for-each-ref', '--format=%(refname)')).toBe(
      'refs/heads/main\nrefs/pull/1/head',
    );
    expect((await bob.call('GET', '/repos/ada/secret/pulls/1')).status).toBe(404);
    expect(await git(secret, 'ls-remote', 'origin', 'refs/heads/*')).not.toContain('new');
    // A fork of hers gets nothing of it.
    await ada.call('DELETE', '/repos/ada/secret/collaborators/eve');
    expect((await pushTo('ada/secret', eve, 'HEAD:refs/for/main/eve')).said).toContain('not found');
  });

  it('lets no ref of ours be pushed along with it', async () => {
    await git(tree, 'checkout', '-q', '-B', 'along', 'origin/main');
    await commit(tree, { 'along.txt': 'along' }, 'along');
    const refs = ['refs/staged/99/0', 'refs/pull/1/head', 'refs/queue/main/1', 'refs/odd/one'];
    const before = await git(bare, 'for-each-ref', 'refs/staged', 'refs/queue', 'refs/odd', 'refs/pull/1');
    const options = { cwd: tree, env: gitEnvironment };
    const args = [
      'push',
      ada.remote('ada/work'),
      'HEAD:refs/for/main/along',
      ...refs.map((ref) => `+HEAD:${ref}`),
    ];
    const said = await new Promise<string>((resolve) => {
      execFile('git', args, options, (_, stdout, stderr) => resolve(stdout + stderr));
    });
    for (const ref of refs) expect(said).toMatch(new RegExp(`${ref} \\(deny updating a hidden ref\\)`));
    expect(said).toContain('Created pull request');
    expect(await git(bare, 'for-each-ref', 'refs/staged', 'refs/queue', 'refs/odd', 'refs/pull/1')).toBe(
      before,
    );
  });

  it('to the topic of somebody else', async () => {
    const number = await review('mine');
    const before = await show(number);
    await work('not mine');
    for (const topic of ['mine', 'bob/mine']) {
      const { said } = await push(eve, `HEAD:refs/for/main/${topic}`, '-o', 'force-push=true');
      expect(numberIn(said)).not.toBe(number);
    }
    expect(await show(number)).toMatchObject({ title: 'mine', head: { sha: before.head.sha } });
    expect(await git(bare, 'rev-parse', `refs/pull/${number}/head`)).toBe(before.head.sha);
    // Nor of whoever takes the name later.
    await scene.sql.run`update :schema.users set login = 'bob2' where login = 'bob'`;
    await scene.sql.run`update :schema.users set login = 'bob' where login = 'eve'`;
    const { said } = await push(eve, 'HEAD:refs/for/main/mine', '-o', 'force-push=true');
    await scene.sql.run`update :schema.users set login = 'eve' where login = 'bob'`;
    await scene.sql.run`update :schema.users set login = 'bob' where login = 'bob2'`;
    expect(numberIn(said)).not.toBe(number);
    expect((await show(number)).head.sha).toBe(before.head.sha);
  });

  it('where pull requests are off, for readers not even the beginning; in archives; without credentials', async () => {
    await work('late');
    await ada.call('PATCH', '/repos/ada/work', { has_pull_requests: false });
    await refused(bob, ['HEAD:refs/for/main/off'], /403/);
    await refused(ada, ['HEAD:refs/for/main/off'], /permission to create pull requests/);
    await ada.call('PATCH', '/repos/ada/work', { has_pull_requests: true, archived: true });
    await refused(bob, ['HEAD:refs/for/main/off'], /403/);
    await ada.call('PATCH', '/repos/ada/work', { archived: false });
    await refused({ ...bob, remote: () => `${scene.address}/ada/work.git` }, ['HEAD:refs/for/main/off'], /./);
    const { body } = await bob.call('POST', '/users/bob/tokens', { name: 'ro', scopes: ['read:repository'] });
    const reader = { ...bob, remote: () => bob.remote('ada/work').replace(bob.token, String(body['sha1'])) };
    await refused(reader, ['HEAD:refs/for/main/off'], /403/);
  });
});
