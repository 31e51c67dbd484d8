import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, lines, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';

const scene = useForge();
let ada: Person;
let bob: Person;
let tree: string;
beforeAll(async () => {
  ada = scene.person('ada');
  bob = scene.person('bob');
  await bob.call('GET', '/user');
  tree = await pushedRepository(ada, 'work', scene.folder);
});

const path = '/repos/ada/work/pulls';
const open = (body: object, who = ada) => who.call('POST', path, { base: 'main', title: 'T', ...body });
const stored = () => rowsOf(scene, 'issues', 'pulls', 'repositories(id, last_number, pulls, closed_pulls)');

describe('creating a pull request', () => {
  it('answers with both branches, the merge base and whether it can be merged', async () => {
    const main = await git(tree, 'rev-parse', 'main');
    const head = await pushBranch(tree, 'feature/one', { 'one.txt': 'one\n' });
    const { status, body } = await open(
      { head: 'feature/one', title: 'One', body: 'text', assignees: ['ada'] },
      ada,
    );
    expect(status).toBe(201);
    const page = `${scene.address}/ada/work/pulls/1`;
    expect(body).toMatchObject({
      number: 1,
      url: page,
      html_url: page,
      diff_url: `${page}.diff`,
      patch_url: `${page}.patch`,
      user: { login: 'ada' },
      title: 'One',
      body: 'text',
      state: 'open',
      draft: false,
      labels: [],
      milestone: null,
      assignee: { login: 'ada' },
      assignees: [{ login: 'ada' }],
      mergeable: true,
      merged: false,
      merged_at: null,
      merge_commit_sha: null,
      merged_by: null,
      merge_base: main,
      base: { label: 'main', ref: 'main', sha: main, repo: { full_name: 'ada/work' } },
      head: { label: 'feature/one', ref: 'feature/one', sha: head, repo: { full_name: 'ada/work' } },
      due_date: null,
      closed_at: null,
    });
    expect((await ada.call('GET', `${path}/1`)).body).toEqual(body);
    expect(await git(await scene.bare('ada', 'work'), 'rev-parse', 'refs/pull/1/head')).toBe(head);
    expect((await ada.call('GET', '/repos/ada/work')).body['open_pr_counter']).toBe(1);
  });

  it('shares its numbers with issues, and is an issue too', async () => {
    const issue = await ada.call('POST', '/repos/ada/work/issues', { title: 'between' });
    expect(issue.body.number).toBe(2);
    await pushBranch(tree, 'two', { 'two.txt': '2' });
    expect((await open({ head: 'two', title: 'WIP: two' })).body.number).toBe(3);
    expect((await ada.call('GET', '/repos/ada/work/issues/3')).body).toMatchObject({
      number: 3,
      html_url: `${scene.address}/ada/work/pulls/3`,
      pull_request: {
        merged: false,
        merged_at: null,
        draft: true,
        html_url: `${scene.address}/ada/work/pulls/3`,
      },
    });
    expect((await ada.call('GET', `${path}/2`)).status).toBe(404);
    const pulls = await ada.call('GET', '/repos/ada/work/issues?type=pulls');
    expect(pulls.items.map(({ number }) => number)).toEqual([3, 1]);
  });

  it('accepts `owner:branch`, and readers as creators', async () => {
    await pushBranch(tree, 'three', { 'three.txt': '3' });
    const { status, body } = await open({ head: 'ADA:three' }, bob);
    expect(status).toBe(201);
    expect(body).toMatchObject({ user: { login: 'bob' }, head: { ref: 'three' } });
  });

  it('says that conflicting branches cannot be merged, and why not those in progress', async () => {
    await pushBranch(tree, 'left', { 'lines.txt': `left\n${lines(2, 20)}` });
    await pushBranch(tree, 'right', { 'lines.txt': `right\n${lines(2, 20)}` });
    expect((await open({ head: 'left', base: 'right' })).body.mergeable).toBe(false);
    expect((await open({ head: 'left', title: '[wip] left' })).body.mergeable).toBe(false);
  });

  it.each([
    ['no title', { title: '' }, 422, '[Title]: Required'],
    ['no head', { head: undefined }, 422, '[Head]: Required'],
    [
      'head and base the same',
      { head: 'main' },
      422,
      'Invalid PullRequest: There are no changes between the head and the base',
    ],
    [
      'head and base the same branch',
      { head: 'ada:main' },
      422,
      'Invalid PullRequest: There are no changes between the head and the base',
    ],
    ['three parts', { head: 'a:b:c' }, 404, "The target couldn't be found."],
    ['an unknown user', { head: 'nobody:x' }, 404, 'GetUserByName'],
    ['a missing base', { base: 'none' }, 404, 'IsBranchExist'],
    ['a user without a fork', { head: 'bob:x' }, 404, 'GetForkedRepo'],
    ['a missing head', { head: 'none' }, 404, 'IsBranchExist'],
    ['an empty branch', { head: 'ada:' }, 404, 'IsBranchExist'],
    [
      'a twin',
      { head: 'feature/one' },
      409,
      /^pull request already exists for these targets \[id: 1, issue_id: 1, head_repo_id: 1, base_repo_id: 1, head_branch: feature\/one, base_branch: main\]$/,
    ],
    ['an unknown milestone', { milestone: 5 }, 404, 'milestone does not exist [id: 5]'],
    ['an unknown milestone and assignee', { milestone: 999, assignee: 'nobody' }, 404, /^milestone/],
    ['an unknown assignee', { assignee: 'nobody' }, 422, /^Assignee does not exist/],
    ['an assignee without access', { assignee: 'bob' }, 422, /^user doesn't have access/],
    // Expressions that git would understand, for commits that exist:
    ['a base that is an expression', { base: 'main~0' }, 404, 'IsBranchExist'],
    ['a head that is an expression', { head: 'right^{commit}' }, 404, 'IsBranchExist'],
    ['a head with a log entry', { head: 'right@{0}' }, 404, 'IsBranchExist'],
    ['an option as head', { head: '--all' }, 404, 'IsBranchExist'],
  ])('is refused with %s, and nothing changes', async (_what, change, status, message) => {
    const before = await stored();
    const refused = await open({ head: 'right', ...change });
    expect(refused.status).toBe(status);
    if (message instanceof RegExp) expect(refused.body.message).toMatch(message);
    else expect(refused.body.message).toBe(message);
    expect(await stored()).toEqual(before);
  });

  it('takes a commit id or a description of one for no branch', async () => {
    const id = await git(tree, 'rev-parse', 'right');
    for (const head of [id, `none-g${id.slice(0, 9)}`, `refs/heads/right`, 'heads/right']) {
      expect((await open({ head })).status).toBe(404);
    }
  });

  it('is possible between unrelated histories', async () => {
    await git(tree, 'checkout', '-q', '--orphan', 'island');
    await commit(tree, { 'island.txt': 'i' }, 'island');
    await git(tree, 'push', '-q', 'origin', 'island');
    await git(tree, 'checkout', '-q', 'main');
    const { status, body } = await open({ head: 'island' });
    expect(status).toBe(201);
    expect(body).toMatchObject({ mergeable: false, merge_base: body.base.sha });
  });
});

describe('somebody who reads pull requests and no code', () => {
  it('sees that there are some, not what they change, and makes none', async () => {
    const paul = scene.person('paul');
    await paul.call('GET', '/user');
    await ada.call('POST', '/orgs', { username: 'guild' });
    await ada.call('POST', '/orgs/guild/repos', { name: 'half', private: true });
    const team = await ada.call('POST', '/orgs/guild/teams', {
      name: 'pullers',
      units_map: { 'repo.pulls': 'read' },
      includes_all_repositories: true,
    });
    expect((await ada.call('PUT', `/teams/${team.body.id}/members/paul`)).status).toBe(204);
    const half = await pushedRepository(ada, 'own', scene.folder);
    await git(half, 'remote', 'set-url', 'origin', ada.remote('guild/half'));
    await git(half, 'push', '-q', 'origin', 'main');
    await pushBranch(half, 'quiet', { 'quiet.txt': 'hush' });
    await pushBranch(half, 'quieter', { 'quieter.txt': 'hush' });
    const at = '/repos/guild/half/pulls';
    const { number } = (await ada.call('POST', at, { head: 'quiet', base: 'main', title: 'Quiet' })).body;
    expect((await paul.call('GET', `${at}/${number}`)).status).toBe(200);
    const before = await stored();
    for (const type of ['diff', 'patch']) {
      const hidden = await paul.call('GET', `${at}/${number}.${type}`);
      expect([hidden.status, hidden.text]).toEqual([404, expect.not.stringContaining('hush')]);
      const accept = { accept: `application/vnd.croft.v3.${type}` };
      expect((await paul.call('GET', `${at}/${number}`, undefined, accept)).text).not.toContain('hush');
      expect((await ada.call('GET', `${at}/${number}.${type}`)).text).toContain('hush');
    }
    for (const head of ['quieter', 'none'])
      expect((await paul.call('POST', at, { head, base: 'main', title: 'Mine' })).status).toBe(404);
    expect(await stored()).toEqual(before);
  });
});

describe('the ref of a pull request that something locks', () => {
  const written = async (number: number) =>
    (
      await scene.sql.row<{ written_sha: string | null }>`
        select written_sha from :schema.pulls p join :schema.issues i on i.id = p.issue_id
        join :schema.repositories r on r.id = i.repository_id where r.name = 'work' and i.number = ${number}`
    )?.written_sha;

  it('is written by the next push, or the next start', async () => {
    const bare = await scene.bare('ada', 'work');
    const ref = (number: number) => git(bare, 'rev-parse', `refs/pull/${number}/head`);
    const first = await pushBranch(tree, 'locked', { 'locked.txt': '1' });
    const { number } = (await open({ head: 'locked' })).body;
    const lock = join(bare, `refs/pull/${number}/head.lock`);
    await writeFile(lock, '');
    const second = await pushBranch(tree, 'locked', { 'locked.txt': '2' });
    expect((await ada.call('GET', `${path}/${number}`)).body.head.sha).toBe(second);
    expect([await ref(number), await written(number)]).toEqual([first, first]);
    await rm(lock);
    await pushBranch(tree, 'elsewhere', { 'elsewhere.txt': '1' });
    expect([await ref(number), await written(number)]).toEqual([second, second]);

    const next = number + 1;
    await mkdir(join(bare, `refs/pull/${next}`), { recursive: true });
    const other = join(bare, `refs/pull/${next}/head.lock`);
    await writeFile(other, '');
    const head = await git(tree, 'rev-parse', 'elsewhere');
    expect((await open({ head: 'elsewhere' })).body.number).toBe(next);
    expect(await written(next)).toBe(null);
    await expect(ref(next)).rejects.toThrow();
    await scene.restart(() => rm(other));
    await git(tree, 'remote', 'set-url', 'origin', ada.remote('ada/work'));
    expect([await ref(next), await written(next)]).toEqual([head, head]);
  });
});

describe('a push to the head branch', () => {
  it('moves the pull request, its ref and its time, force pushes too', async () => {
    await pushBranch(tree, 'moving', { 'm.txt': '1' });
    const { number } = (await open({ head: 'moving' })).body;
    for (const round of ['2', '3']) {
      const head = await pushBranch(tree, 'moving', { 'm.txt': round });
      const { body } = await ada.call('GET', `${path}/${number}`);
      expect(body.head.sha).toBe(head);
      expect(await git(await scene.bare('ada', 'work'), 'rev-parse', `refs/pull/${number}/head`)).toBe(head);
    }
    expect(await git(tree, 'ls-remote', 'origin', `refs/pull/${number}/head`)).toContain(
      await git(tree, 'rev-parse', 'moving'),
    );
  });

  it('that deletes it closes the pull request and keeps its commits', async () => {
    const head = await pushBranch(tree, 'fleeting', { 'f.txt': '1' });
    const { number } = (await open({ head: 'fleeting' })).body;
    await git(tree, 'push', '-q', 'origin', ':fleeting');
    const { body } = await ada.call('GET', `${path}/${number}`);
    expect(body).toMatchObject({
      state: 'closed',
      merged: false,
      head: { ref: `refs/pull/${number}/head`, sha: head },
    });
  });

  it('to the base is seen at once', async () => {
    await pushBranch(tree, 'stable', { 's.txt': 's\n' });
    await pushBranch(tree, 'late', { 'lines.txt': `late\n${lines(2, 20)}` });
    const { number } = (await open({ head: 'late', base: 'stable' })).body;
    expect((await ada.call('GET', `${path}/${number}`)).body.mergeable).toBe(true);
    await pushBranch(tree, 'stable', { 'lines.txt': `stable\n${lines(2, 20)}` }, 'stable');
    expect((await ada.call('GET', `${path}/${number}`)).body.mergeable).toBe(false);
  });
});

describe('the changes of a pull request', () => {
  let number: number;
  const image = Buffer.concat([Buffer.from([0, 1, 2, 0]), randomBytes(2000)]);
  beforeAll(async () => {
    await git(tree, 'checkout', '-q', '-B', 'changes', 'main');
    await commit(
      tree,
      { 'lines.txt': null, 'renamed.txt': lines(1, 20).replace('line 7', 'seven') },
      'rename',
    );
    await commit(tree, { 'image.bin': image, 'dir/a b.txt': 'späce\n' }, 'binary');
    await git(tree, 'push', '-q', 'origin', 'changes');
    await git(tree, 'checkout', '-q', 'main');
    number = (await open({ head: 'changes' })).body.number;
    await commit(tree, { 'README.md': 'moved on\n' }, 'the base moves on');
    await git(tree, 'push', '-q', 'origin', 'main');
  });

  /** Applies what the forge gave to the merge base, and returns the tree that comes out. */
  async function applied(text: string, command: readonly string[]): Promise<string> {
    const target = join(scene.folder, `apply-${randomBytes(4).toString('hex')}`);
    await git(scene.folder, 'clone', '-q', tree, target);
    await git(target, 'checkout', '-q', '-b', 'target', await git(tree, 'merge-base', 'main', 'changes'));
    await writeFile(join(target, '.git', 'changes'), text);
    await git(target, ...command, '.git/changes');
    await git(target, 'add', '-A');
    return await git(target, 'write-tree');
  }
  const wantedTree = () => git(tree, 'rev-parse', 'changes^{tree}');

  it('as a diff are what git shows from the merge base', async () => {
    const { status, text, headers } = await ada.call('GET', `${path}/${number}.diff`);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(text.trim()).toBe(await git(tree, 'diff', 'main...changes'));
    expect(text).toContain('Binary files /dev/null and b/image.bin differ');
    expect(text).toContain('rename from lines.txt');
    expect(text).not.toContain('moved on');
  });

  it('as a diff with binary files apply elsewhere', async () => {
    const { text } = await ada.call('GET', `${path}/${number}.diff?binary=true`);
    expect(await applied(text, ['apply'])).toBe(await wantedTree());
  });

  it('as patches apply elsewhere, commit by commit', async () => {
    const { text } = await ada.call('GET', `${path}/${number}.patch`);
    expect(text).toMatch(/^From [0-9a-f]{40} Mon Sep 17 00:00:00 2001\nFrom: Ada <ada@example.test>\n/);
    expect(text.match(/^Subject: \[PATCH \d\/2\]/gm)).toHaveLength(2);
    expect(await applied(text, ['am', '-q'])).toBe(await wantedTree());
  });

  it('come by media type too', async () => {
    const diff = await ada.call('GET', `${path}/${number}`, undefined, {
      accept: 'application/vnd.croft.v3.diff',
    });
    expect(diff.text).toBe((await ada.call('GET', `${path}/${number}.diff`)).text);
    const json = await ada.call('GET', `${path}/${number}`, undefined, {
      accept: 'application/vnd.croft.v3+json',
    });
    expect(json.body.number).toBe(number);
  });

  it('are 404 for issues, for other endings, and for those who may not see', async () => {
    expect((await ada.call('GET', `${path}/2.diff`)).status).toBe(404);
    expect((await ada.call('GET', `${path}/${number}.zip`)).status).toBe(404);
    expect((await ada.call('GET', `${path}/x.diff`)).status).toBe(404);
    expect((await bob.call('GET', `/repos/ada/none/pulls/1.diff`)).status).toBe(404);
  });
});

describe('the list of pull requests', () => {
  const list = async (query: string) =>
    (await ada.call('GET', `/repos/ada/lists/pulls${query}`)).items.map(({ title }) => title);
  beforeAll(async () => {
    const other = await pushedRepository(ada, 'lists', scene.folder);
    for (const name of ['a', 'b', 'c']) {
      await pushBranch(other, name, { [`${name}.txt`]: name });
      await ada.call('POST', '/repos/ada/lists/pulls', { head: name, base: 'main', title: name });
    }
    await ada.call('PATCH', '/repos/ada/lists/pulls/2', { state: 'closed' });
    await ada.call('PATCH', '/repos/ada/lists/pulls/1', { body: 'touched' });
  });

  it('has the open ones by default, and for a state nobody knows', async () => {
    expect(await list('')).toEqual(['c', 'a']);
    expect(await list('?state=open')).toEqual(['c', 'a']);
    expect(await list('?state=nonsense')).toEqual(['c', 'a']);
    expect(await list('?state=closed')).toEqual(['b']);
    expect(await list('?state=all')).toEqual(['c', 'b', 'a']);
  });

  it('is sorted as asked', async () => {
    expect(await list('?state=all&sort=oldest')).toEqual(['a', 'b', 'c']);
    expect(await list('?state=all&sort=recentupdate')).toEqual(['a', 'b', 'c']);
    expect(await list('?state=all&sort=leastupdate')).toEqual(['c', 'b', 'a']);
    expect(await list('?state=all&sort=mostcomment')).toEqual(['c', 'b', 'a']);
  });

  it('is paged with both headers', async () => {
    const { items, headers } = await ada.call('GET', '/repos/ada/lists/pulls?state=all&limit=2&page=2');
    expect(items.map(({ title }) => title)).toEqual(['a']);
    expect(headers.get('x-total-count')).toBe('3');
    const base = `${scene.address}/api/v1/repos/ada/lists/pulls?limit=2&page=1&state=all`;
    expect(headers.get('link')).toBe(`<${base}>; rel="first",<${base}>; rel="prev"`);
  });
});
