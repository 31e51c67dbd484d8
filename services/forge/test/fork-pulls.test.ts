import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { recordHappenings } from './happenings.ts';
import { rowsOf } from './rows-of.ts';

const scene = useForge();
let ada: Person;
let bob: Person;
let eve: Person;
/** Work trees of the original and of bob's fork. */
let tree: string;
let forked: string;
let bare: string;
beforeAll(async () => {
  [ada, bob, eve] = [scene.person('ada'), scene.person('bob'), scene.person('eve')];
  for (const person of [ada, bob, eve]) await person.call('GET', '/user');
  tree = await pushedRepository(ada, 'work', scene.folder);
  bare = await scene.bare('ada', 'work');
  forked = await fork(bob, 'work', 'bobs');
  await recordHappenings(scene);
});

const path = '/repos/ada/work/pulls';
async function fork(person: Person, of: string, name: string): Promise<string> {
  const made = await person.call('POST', `/repos/ada/${of}/forks`, { name });
  if (made.status !== 202) throw new Error(made.text);
  const clone = join(scene.folder, name);
  await git(scene.folder, 'clone', '-q', person.remote(`${person.name}/${name}`), clone);
  return clone;
}
const open = (body: object, who = bob) => who.call('POST', path, { base: 'main', title: 'T', ...body });
/** A branch of bob's fork with a pull request from it. */
async function pull(branch: string, more: object = {}): Promise<number> {
  await git(forked, 'fetch', '-q', ada.remote('ada/work'), 'main');
  await pushBranch(forked, branch, { [`${branch}.txt`]: branch }, 'FETCH_HEAD');
  const made = await open({ head: `bob:${branch}`, title: branch, ...more });
  if (made.status !== 201) throw new Error(made.text);
  return made.body.number;
}
const show = async (number: number, who = ada) => (await who.call('GET', `${path}/${number}`)).body;
const kinds = async (number: number) =>
  (await ada.call('GET', `/repos/ada/work/issues/${number}/timeline`)).items.map((entry) => entry['type']);
const stored = () =>
  Promise.all([
    git(bare, 'for-each-ref'),
    rowsOf(scene, 'issues', 'pulls', 'repositories(id, last_number, pulls, closed_pulls)'),
  ]);
const told = async () =>
  (
    await scene.sql.rows<{ payload: { action: string } }>`
      select payload from :schema.told where payload->>'kind' = 'issue' order by id`
  ).map(({ payload }) => payload.action);

describe('a pull request from a fork', () => {
  it('has its commits in the base, shows both repositories, and is merged with them named', async () => {
    const number = await pull('feature/one');
    const head = await git(forked, 'rev-parse', 'feature/one');
    expect(await show(number, eve)).toMatchObject({
      mergeable: true,
      base: { ref: 'main', repo: { full_name: 'ada/work' } },
      head: {
        label: 'feature/one',
        ref: 'feature/one',
        sha: head,
        repo: { full_name: 'bob/bobs', fork: true },
      },
    });
    expect(await git(bare, 'rev-parse', `refs/pull/${number}/head`)).toBe(head);
    expect(await git(bare, 'fsck', '--full', '--strict', '--no-dangling')).toBe('');
    expect((await eve.call('GET', `${path}/${number}.diff`)).text).toContain('+feature/one');
    expect((await ada.call('POST', `${path}/${number}/merge`, {})).status).toBe(200);
    expect(await git(bare, 'log', '-1', '--format=%s', 'main')).toBe(
      `Merge pull request 'feature/one' (#${number}) from bob/bobs:feature/one into main`,
    );
  });

  it('may be of the same name as its base, and name the repository', async () => {
    await pushBranch(forked, 'main', { 'more.txt': 'more' });
    const made = await open({ head: 'bob/bobs:main' });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ head: { label: 'main', repo: { full_name: 'bob/bobs' } } });
    await ada.call('PATCH', `${path}/${made.body.number}`, { state: 'closed' });
  });

  it('may go from the original to the fork', async () => {
    const made = await ada.call('POST', '/repos/bob/bobs/pulls', {
      head: 'ada:main',
      base: 'feature/one',
      title: 'back',
    });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ head: { repo: { full_name: 'ada/work' } } });
    const { id: issueId } = (await ada.call('GET', `/repos/bob/bobs/issues/${made.body.number}`)).body;
    // A merge moves the branch that is its head.
    const number = await pull('forth');
    await ada.call('POST', `${path}/${number}/merge`, {});
    const main = await git(bare, 'rev-parse', 'main');
    const row = () => scene.sql.row`
      select head_sha, written_sha from :schema.pulls where issue_id = ${issueId}`;
    await expect.poll(row).toEqual({ head_sha: main, written_sha: main });
    await expect.poll(() => scene.sql.rows`select * from :schema.pushes`).toEqual([]);
    await bob.call('PATCH', `/repos/bob/bobs/pulls/${made.body.number}`, { state: 'closed' });
  });

  it.each([
    ['nobody', { head: 'nobody:main' }, 404, 'GetUserByName'],
    ['nobody, before a missing base', { head: 'nobody:main', base: 'none' }, 404, 'GetUserByName'],
    ['a missing base, before a missing fork', { head: 'eve:main', base: 'none' }, 404, 'IsBranchExist'],
    ['somebody without a fork', { head: 'eve:main' }, 404, 'GetForkedRepo'],
    ['a repository outside of the network', { head: 'bob/none:main' }, 404, 'GetForkedRepo'],
    ['a path', { head: 'bob/bobs/x:main' }, 404, 'GetForkedRepo'],
    ['a way out', { head: '../ada:main' }, 404, 'GetUserByName'],
    ['a missing head', { head: 'bob:none' }, 404, 'IsBranchExist'],
    ['an option', { head: 'bob:--upload-pack=touch /tmp/x' }, 404, 'IsBranchExist'],
    ['an expression', { head: 'bob:main^{commit}' }, 404, 'IsBranchExist'],
    [
      'a twin',
      { head: 'bob:again' },
      409,
      /^pull request already exists for these targets \[id: \d+, issue_id/,
    ],
  ])('is not made from %s, and nothing changes', async (what, body, status, message) => {
    if (what === 'a twin') await pull('again');
    const before = await stored();
    const refused = await open(body);
    expect(refused.status).toBe(status);
    if (message instanceof RegExp) expect(refused.body.message).toMatch(message);
    else expect(refused.body.message).toBe(message);
    expect(await stored()).toEqual(before);
  });

  it('attack: is to tell whether there is a private organization', async () => {
    await ada.call('POST', '/orgs', { username: 'cellar', visibility: 'private' });
    const made = await ada.call('POST', '/repos/ada/work/forks', { organization: 'cellar', name: 'wine' });
    expect(made.status).toBe(202);
    await ada.call('PUT', '/repos/cellar/wine/collaborators/bob', { permission: 'write' });
    const before = await stored();
    const refused = async (who: Person, head: string, base = 'main') => {
      const { status, text } = await open({ head, base }, who);
      return [status, text.replaceAll('cellar', 'nobody')];
    };
    for (const base of ['main', 'none'])
      expect(await refused(eve, 'cellar:none', base)).toEqual(await refused(eve, 'nobody:none', base));
    // Whoever works there knows.
    expect(await refused(bob, 'cellar:none')).toEqual([404, expect.stringContaining('IsBranchExist')]);
    expect(await stored()).toEqual(before);
  });

  it('follows pushes at once, forced ones too, and is closed with its branch', async () => {
    const number = await pull('moving');
    await git(forked, 'checkout', '-q', 'moving');
    const second = await commit(forked, { 'second.txt': '2' }, 'second');
    await git(forked, 'push', '-q', 'origin', 'moving');
    expect(await git(bare, 'rev-parse', `refs/pull/${number}/head`)).toBe(second);
    expect((await show(number)).head.sha).toBe(second);
    expect((await told()).at(-1)).toBe('synchronized');
    await git(forked, 'reset', '-q', '--hard', 'HEAD~1');
    await git(forked, 'push', '-q', '-f', 'origin', 'moving');
    const first = await git(forked, 'rev-parse', 'moving');
    expect((await show(number)).head.sha).toBe(first);
    await git(forked, 'push', '-q', 'origin', ':moving');
    expect(await show(number)).toMatchObject({
      state: 'closed',
      merged: false,
      head: { ref: `refs/pull/${number}/head`, sha: first, repo: { full_name: 'bob/bobs' } },
    });
    expect((await kinds(number)).slice(-2)).toEqual(['delete_branch', 'close']);
    const before = await stored();
    expect((await bob.call('PATCH', `${path}/${number}`, { state: 'open' })).status).toBe(422);
    expect(await stored()).toEqual(before);
    // Reopened, it stands where the branch is by then.
    await git(forked, 'push', '-q', 'origin', `${second}:refs/heads/moving`);
    expect((await bob.call('PATCH', `${path}/${number}`, { state: 'open' })).status).toBe(201);
    expect((await show(number)).head.sha).toBe(second);
    expect(await git(bare, 'rev-parse', `refs/pull/${number}/head`)).toBe(second);
    await git(forked, 'checkout', '-q', 'main');
  });

  it('follows a push that a crash interrupted', async () => {
    const number = await pull('crashed');
    const fork = await scene.bare('bob', 'bobs');
    await git(forked, 'checkout', '-q', 'crashed');
    const before = await git(forked, 'rev-parse', 'HEAD');
    const after = await commit(forked, { 'late.txt': 'late' }, 'late');
    await scene.restart(async () => {
      await git(forked, 'push', '-q', fork, 'crashed');
      const details = { moves: [{ ref: 'refs/heads/crashed', before, after }] };
      await scene.sql.run`
        insert into :schema.pushes (repository_id, actor_id, details, started_at)
        select id, owner_id, ${JSON.stringify(details)}::jsonb, now() from :schema.repositories where name = 'bobs'`;
    });
    await git(forked, 'remote', 'set-url', 'origin', bob.remote('bob/bobs'));
    await git(tree, 'remote', 'set-url', 'origin', ada.remote('ada/work'));
    expect(await git(bare, 'rev-parse', `refs/pull/${number}/head`)).toBe(after);
    expect((await show(number)).head.sha).toBe(after);
    await git(forked, 'checkout', '-q', 'main');
  });
});

describe('whoever may write to the base', () => {
  const push = (ref: string, who: Person) =>
    git(forked, 'push', '-q', '-f', who.remote('bob/bobs'), `HEAD:refs/heads/${ref}`).then(
      () => 'pushed',
      (error: Error) => error.message,
    );

  it('may push to the head when the poster lets him, to no other ref, and only while it is open', async () => {
    const number = await pull('lent');
    await git(forked, 'checkout', '-q', 'lent');
    const before = await git(await scene.bare('bob', 'bobs'), 'for-each-ref');
    await commit(forked, { 'from-ada.txt': 'a' }, 'from ada');
    expect(await push('lent', ada)).toContain('permission to write');
    expect((await ada.call('PATCH', `${path}/${number}`, { allow_maintainer_edit: true })).status).toBe(403);
    expect(await git(await scene.bare('bob', 'bobs'), 'for-each-ref')).toBe(before);
    const lent = await bob.call('PATCH', `${path}/${number}`, { allow_maintainer_edit: true });
    expect([lent.status, lent.body['allow_maintainer_edit']]).toEqual([201, true]);
    expect(await push('lent', eve)).toContain('permission to write');
    for (const ref of ['main', 'fresh']) expect(await push(ref, ada)).toContain('permission to write');
    await expect(git(forked, 'push', '-q', ada.remote('bob/bobs'), ':lent')).rejects.toThrow();
    await expect(git(forked, 'push', '-q', ada.remote('bob/bobs'), 'HEAD:refs/tags/x')).rejects.toThrow();
    expect(await git(await scene.bare('bob', 'bobs'), 'for-each-ref')).toBe(before);
    expect(await push('lent', ada)).toBe('pushed');
    expect((await show(number)).head.sha).toBe(await git(forked, 'rev-parse', 'HEAD'));
    await ada.call('PATCH', `${path}/${number}`, { state: 'closed' });
    await commit(forked, { 'too-late.txt': 'a' }, 'too late');
    expect(await push('lent', ada)).toContain('permission to write');
    await git(forked, 'checkout', '-q', 'main');
  });

  it('not any more when the poster has lost what he lends', async () => {
    const zoe = scene.person('zoe');
    await zoe.call('GET', '/user');
    await ada.call('PUT', '/repos/ada/work/collaborators/zoe', { permission: 'write' });
    const hers = await fork(zoe, 'work', 'zoes');
    await pushBranch(tree, 'borrowed', { 'borrowed.txt': '1' }, 'origin/main');
    const { body } = await zoe.call('POST', '/repos/zoe/zoes/pulls', {
      head: 'ada/work:borrowed',
      base: 'main',
      title: 'into my own',
    });
    const at = `/repos/zoe/zoes/pulls/${body.number}`;
    const lent = await zoe.call('PATCH', at, { allow_maintainer_edit: true });
    expect([lent.status, lent.body['allow_maintainer_edit']]).toEqual([201, true]);
    await ada.call('DELETE', '/repos/ada/work/collaborators/zoe');
    const before = await git(bare, 'for-each-ref');
    await git(hers, 'fetch', '-q', ada.remote('ada/work'), 'borrowed');
    await git(hers, 'checkout', '-q', '-B', 'borrowed', 'FETCH_HEAD');
    await commit(hers, { 'evil.txt': '1' }, 'evil');
    await expect(git(hers, 'push', '-q', zoe.remote('ada/work'), 'borrowed')).rejects.toThrow(
      'permission to write',
    );
    await pushBranch(hers, 'main', { 'newer.txt': '1' }, 'main');
    expect((await zoe.call('POST', `${at}/update`)).status).toBe(403);
    expect(await git(bare, 'for-each-ref')).toBe(before);
  });

  it('keeps to the protections of the fork', async () => {
    const number = await pull('kept');
    await bob.call('PATCH', `${path}/${number}`, { allow_maintainer_edit: true });
    await bob.call('POST', '/repos/bob/bobs/branch_protections', {
      rule_name: 'kept',
      enable_push: true,
      enable_push_whitelist: true,
      push_whitelist_usernames: ['bob'],
    });
    await git(forked, 'checkout', '-q', 'kept');
    await commit(forked, { 'x.txt': 'x' }, 'x');
    expect(await push('kept', ada)).toContain('Not allowed to push to protected branch kept');
    await git(forked, 'checkout', '-q', 'main');
  });
});

describe('the head branch after a merge', () => {
  const merge = (number: number, who: Person) =>
    who.call('POST', `${path}/${number}/merge`, { delete_branch_after_merge: true });
  const exists = async (branch: string) =>
    (await eve.call('GET', `/repos/bob/bobs/branches/${branch}`)).status === 200;

  it('stays for whoever may not write to the fork', async () => {
    const number = await pull('stays');
    expect((await merge(number, ada)).status).toBe(200);
    expect(await exists('stays')).toBe(true);
    expect(await kinds(number)).not.toContain('delete_branch');
  });

  it('goes for whoever may, and stands in the timeline', async () => {
    await bob.call('PUT', '/repos/bob/bobs/collaborators/ada', { permission: 'write' });
    const number = await pull('goes');
    expect((await merge(number, ada)).status).toBe(200);
    expect(await exists('goes')).toBe(false);
    const { items } = await ada.call('GET', `/repos/ada/work/issues/${number}/timeline`);
    // The commit of the merge names the pull request, which may be noted before or after.
    expect(items).toContainEqual(
      expect.objectContaining({
        type: 'delete_branch',
        old_ref: 'goes',
        user: expect.objectContaining({ login: 'ada' }),
      }),
    );
    const main = await pull('unused');
    await git(forked, 'push', '-q', 'origin', ':unused');
    expect((await merge(main, ada)).status).toBe(404);
    await bob.call('DELETE', '/repos/bob/bobs/collaborators/ada');
  });
});

describe('a fork that is deleted', () => {
  it('leaves its pull requests readable: open ones are closed, merged ones stay merged', async () => {
    await fork(eve, 'work', 'eves');
    const clone = join(scene.folder, 'eves');
    await pushBranch(clone, 'gone', { 'gone.txt': 'gone\n' });
    await pushBranch(clone, 'done', { 'done.txt': 'done\n' });
    const gone = (await open({ head: 'eve:gone' }, eve)).body;
    const done = (await open({ head: 'eve:done' }, eve)).body.number;
    await ada.call('POST', `${path}/${done}/merge`, {});
    const patch = (await ada.call('GET', `${path}/${done}.patch`)).text;
    expect((await eve.call('DELETE', '/repos/eve/eves')).status).toBe(204);
    expect(await show(gone.number)).toMatchObject({
      state: 'closed',
      merged: false,
      head: {
        label: 'gone',
        ref: `refs/pull/${gone.number}/head`,
        sha: gone.head.sha,
        repo_id: -1,
        repo: null,
      },
    });
    expect((await told()).at(-1)).toBe('closed');
    expect((await ada.call('GET', `${path}/${gone.number}.diff`)).text).toContain('+gone');
    expect((await ada.call('GET', `${path}/${done}.patch`)).text).toBe(patch);
    expect((await ada.call('GET', `${path}?state=all`)).status).toBe(200);
    const before = await stored();
    expect((await eve.call('PATCH', `${path}/${gone.number}`, { state: 'open' })).status).toBe(422);
    expect(await stored()).toEqual(before);
  });

  it('while a pull request is made from it leaves none that is open, or none at all', async () => {
    for (let round = 0; round < 5; round++) {
      const name = `short${round}`;
      await fork(eve, 'work', name);
      await pushBranch(join(scene.folder, name), 'brief', { [`${name}.txt`]: 'x' });
      const [made, removed] = await Promise.all([
        open({ head: `eve/${name}:brief` }, eve),
        eve.call('DELETE', `/repos/eve/${name}`),
      ]);
      expect(removed.status).toBe(204);
      expect([201, 404]).toContain(made.status);
      if (made.status === 201) expect(await show(made.body.number)).toMatchObject({ state: 'closed' });
    }
  });
});

describe('a private fork', () => {
  it('is shown to those only who may see it', async () => {
    const clone = await fork(eve, 'work', 'secret');
    await eve.call('PATCH', '/repos/eve/secret', { private: true });
    await pushBranch(clone, 'hidden', { 'hidden.txt': 'x' });
    const before = await stored();
    const refused = await open({ head: 'eve:hidden' }, bob);
    expect([refused.status, refused.body.message]).toEqual([404, 'GetForkedRepo']);
    expect(await stored()).toEqual(before);
    const { number } = (await open({ head: 'eve:hidden', title: 'from private' }, eve)).body;
    expect(await show(number, eve)).toMatchObject({ head: { repo: { full_name: 'eve/secret' } } });
    for (const who of [ada, bob]) {
      const { text } = await who.call('GET', `${path}/${number}`);
      expect(JSON.parse(text)).toMatchObject({ head: { label: 'hidden', repo_id: -1, repo: null } });
      expect(text).not.toContain('eve/secret');
    }
    expect((await ada.call('POST', `${path}/${number}/merge`, {})).status).toBe(200);
    expect(await git(bare, 'log', '-1', '--format=%s', 'main')).not.toContain('secret');
  });

  it('is not named to readers of a private base either, nor is one of a hidden owner', async () => {
    await pushedRepository(ada, 'closed', scene.folder, { private: true });
    for (const person of [bob, eve])
      await ada.call('PUT', `/repos/ada/closed/collaborators/${person.name}`, { permission: 'write' });
    await fork(eve, 'closed', 'eves-secret');
    expect((await eve.call('POST', '/orgs', { username: 'shy', visibility: 'private' })).status).toBe(201);
    const hidden = await eve.call('POST', '/repos/ada/work/forks', { name: 'shys', organization: 'shy' });
    expect(hidden.status).toBe(202);
    for (const [owner, name, base] of [
      ['eve', 'eves-secret', 'closed'],
      ['shy', 'shys', 'work'],
    ] as const) {
      const clone = join(scene.folder, `clone-of-${name}`);
      await git(scene.folder, 'clone', '-q', eve.remote(`${owner}/${name}`), clone);
      await pushBranch(clone, 'from-there', { [`${name}.txt`]: 'x' });
      const wish = { head: `${owner}/${name}:from-there`, base: 'main', title: 'From there' };
      const { number } = (await eve.call('POST', `/repos/ada/${base}/pulls`, wish)).body;
      expect((await ada.call('POST', `/repos/ada/${base}/pulls/${number}/merge`, {})).status).toBe(200);
      const message = await git(await scene.bare('ada', base), 'log', '-1', '--format=%B', 'main');
      expect(message).toBe(
        `Merge pull request 'From there' (#${number}) from <deleted>:from-there into main`,
      );
    }
  });
});

it('a push to the fork during a merge is merged or not, and nothing is lost', async () => {
  for (let round = 0; round < 5; round++) {
    const branch = `raced${round}`;
    const number = await pull(branch);
    await git(forked, 'checkout', '-q', branch);
    const first = await git(forked, 'rev-parse', 'HEAD');
    const second = await commit(forked, { [`${branch}-2.txt`]: '2' }, 'second');
    const [merged] = await Promise.all([
      ada.call('POST', `${path}/${number}/merge`, {}),
      git(forked, 'push', '-q', 'origin', branch),
    ]);
    expect([200, 409]).toContain(merged.status);
    const row = await scene.sql.row<{ head_sha: string; merged: boolean }>`
      select head_sha, merged_at is not null as merged from :schema.pulls p join :schema.issues i on i.id = p.issue_id
      where p.repository_id = (select id from :schema.repositories where name = 'work') and i.number = ${number}`;
    expect(row?.merged).toBe(merged.status === 200);
    expect([first, second]).toContain(row?.head_sha);
    expect(await git(bare, 'rev-parse', `refs/pull/${number}/head`)).toBe(row?.head_sha);
    if (row?.merged) await git(bare, 'merge-base', '--is-ancestor', row.head_sha, 'main');
    await git(forked, 'checkout', '-q', 'main');
  }
  expect(await git(bare, 'fsck', '--full', '--strict', '--no-dangling')).toBe('');
});
