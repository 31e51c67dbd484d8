import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { lines, type Person, pushBranch, useForge } from './forge.ts';
import { forkScene } from './fork-scene.ts';
import { rowsOf } from './rows-of.ts';

const scene = useForge();
let ada: Person;
let bob: Person;
let eve: Person;
let tree: string;
let forked: string;
let bare: string;
let bobs: string;
beforeAll(async () => {
  ({ ada, bob, eve, tree, forked, bare, bobs } = await forkScene(scene));
});

const path = '/repos/ada/work/pulls';
const update = (number: number, who: Person, style = '') =>
  who.call('POST', `${path}/${number}/update${style && `?style=${style}`}`);
const show = async (number: number) => (await ada.call('GET', `${path}/${number}`)).body;
const aheadOnMain = (name: string, content = name) => pushBranch(tree, 'main', { [name]: content });
async function pull(
  branch: string,
  files: Record<string, string>,
  from: 'ada' | 'bob' = 'ada',
): Promise<number> {
  const clone = from === 'ada' ? tree : forked;
  await git(clone, 'fetch', '-q', ada.remote('ada/work'), 'main');
  await pushBranch(clone, branch, files, 'FETCH_HEAD');
  const who = from === 'ada' ? ada : bob;
  const made = await who.call('POST', path, { head: `${from}:${branch}`, base: 'main', title: branch });
  if (made.status !== 201) throw new Error(made.text);
  return made.body.number;
}
const stored = () =>
  Promise.all([
    git(bare, 'for-each-ref'),
    git(bobs, 'for-each-ref'),
    rowsOf(scene, 'issues', 'pulls', 'pushes'),
  ]);

it('is not for the pull requests of an archived repository', async () => {
  const number = await pull('late', { 'late.txt': 'x' }, 'bob');
  await aheadOnMain('before-the-archive.txt');
  expect((await ada.call('PATCH', '/repos/ada/work', { archived: true })).status).toBe(200);
  const before = await stored();
  expect((await update(number, bob)).status).toBe(423);
  expect(await stored()).toEqual(before);
  expect((await ada.call('PATCH', '/repos/ada/work', { archived: false })).status).toBe(200);
  expect((await update(number, bob)).status).toBe(200);
});

describe('a head branch', () => {
  it('is brought up to its base by a merge, once', async () => {
    const number = await pull('merged', { 'merged.txt': 'x' });
    const head = await git(tree, 'rev-parse', 'merged');
    const base = await aheadOnMain('ahead1.txt');
    expect((await update(number, ada)).status).toBe(200);
    const tip = await git(bare, 'rev-parse', 'merged');
    expect(await git(bare, 'log', '-1', '--format=%P|%an|%s', tip)).toBe(
      `${head} ${base}|ada|Merge branch 'main' into merged`,
    );
    expect(await show(number)).toMatchObject({ head: { sha: tip }, merge_base: base, mergeable: true });
    expect(await git(bare, 'rev-parse', `refs/pull/${number}/head`)).toBe(tip);
    const before = await stored();
    expect((await update(number, ada)).status).toBe(200);
    expect(await stored()).toEqual(before);
  });

  it('of a fork is rebased, by its owner or whoever the poster lets, and by nobody else', async () => {
    const number = await pull('rebased', { 'rebased.txt': 'x' }, 'bob');
    const base = await aheadOnMain('ahead2.txt');
    const before = await stored();
    for (const who of [ada, eve]) expect((await update(number, who, 'rebase')).status).toBe(403);
    expect(await stored()).toEqual(before);
    await bob.call('PATCH', `${path}/${number}`, { allow_maintainer_edit: true });
    expect((await update(number, eve, 'rebase')).status).toBe(403);
    expect((await update(number, ada, 'rebase')).status).toBe(200);
    const tip = await git(bobs, 'rev-parse', 'rebased');
    expect(await git(bobs, 'log', '-1', '--format=%P|%s|%cn', tip)).toBe(`${base}|work on rebased|ada`);
    expect((await show(number)).head.sha).toBe(tip);
    expect(await git(bare, 'rev-parse', `refs/pull/${number}/head`)).toBe(tip);
    await aheadOnMain('ahead3.txt');
    expect((await update(number, bob, 'merge')).status).toBe(200);
    for (const one of [bare, bobs])
      expect(await git(one, 'fsck', '--full', '--strict', '--no-dangling')).toBe('');
  });

  it.each([
    ['a conflict', 'merge', 409],
    ['a conflict', 'rebase', 409],
    ['an unknown style', 'squash', 422],
    ['a style that is switched off', 'rebase', 403],
    ['a protected head', 'merge', 409],
    ['a closed pull request', 'merge', 422],
    ['a missing pull request', 'merge', 404],
  ])('is not updated with %s (%s), and nothing changes', async (what, style, status) => {
    const branch = `${what.replaceAll(' ', '-')}-${style}`;
    let number = await pull(branch, { 'lines.txt': `${branch}\n${lines(2, 20)}` });
    await aheadOnMain(
      what === 'a conflict' ? 'lines.txt' : `${branch}.txt`,
      `main ${branch}\n${lines(2, 20)}`,
    );
    const settings = (allowed: boolean) =>
      ada.call('PATCH', '/repos/ada/work', { allow_rebase_update: allowed, default_update_style: 'merge' });
    if (what === 'a style that is switched off')
      expect((await settings(false)).body).toMatchObject({
        allow_rebase_update: false,
        allow_merge_update: true,
      });
    if (what === 'a protected head')
      await ada.call('POST', '/repos/ada/work/branch_protections', { rule_name: branch, enable_push: false });
    if (what === 'a closed pull request') await ada.call('PATCH', `${path}/${number}`, { state: 'closed' });
    if (what === 'a missing pull request') number = 999;
    const before = await stored();
    expect((await update(number, ada, style)).status).toBe(status);
    expect(await stored()).toEqual(before);
    await settings(true);
  });

  it('attack: does not get code of a base that the caller may not read any more', async () => {
    const at = '/repos/guild/vault';
    await ada.call('POST', '/orgs', { username: 'guild', visibility: 'private' });
    await ada.call('POST', '/orgs/guild/repos', { name: 'vault', private: true, auto_init: true });
    const unitsMap = { 'repo.code': 'read', 'repo.pulls': 'read' };
    const team = {
      name: 'readers',
      permission: 'read',
      includes_all_repositories: true,
      units_map: unitsMap,
    };
    const { id } = (await ada.call('POST', '/orgs/guild/teams', team)).body;
    expect((await ada.call('PUT', `/teams/${id}/members/bob`)).status).toBe(204);
    expect((await bob.call('POST', `${at}/forks`, { name: 'vaults' })).status).toBe(202);
    const file = { content: 'eA==', message: 'x' };
    const topic = { ...file, new_branch: 'topic' };
    expect((await bob.call('POST', '/repos/bob/vaults/contents/x.txt', topic)).status).toBe(201);
    const wish = { head: 'bob:topic', base: 'main', title: 'topic' };
    const { number } = (await bob.call('POST', `${at}/pulls`, wish)).body;
    await ada.call('PATCH', `/teams/${id}`, { name: 'readers', units_map: { 'repo.pulls': 'read' } });
    expect((await ada.call('POST', `${at}/contents/secret.txt`, file)).status).toBe(201);
    expect((await bob.call('GET', `${at}/contents/secret.txt`)).status).toBe(404);
    expect((await bob.call('GET', `${at}/pulls/${number}`)).status).toBe(200);
    const [secret, vaults] = [await scene.bare('guild', 'vault'), await scene.bare('bob', 'vaults')];
    const tip = await git(secret, 'rev-parse', 'main');
    const kept = () => Promise.all([git(vaults, 'for-each-ref'), stored()]);
    const before = await kept();
    expect((await bob.call('POST', `${at}/pulls/${number}/update`)).status).toBe(404);
    expect(await kept()).toEqual(before);
    await expect(git(vaults, 'cat-file', '-e', tip)).rejects.toThrow();
    await ada.call('PATCH', `/teams/${id}`, { name: 'readers', units_map: unitsMap });
    expect((await bob.call('POST', `${at}/pulls/${number}/update`)).status).toBe(200);
  });

  it('is updated once when two want it at once', async () => {
    const number = await pull('twice', { 'twice.txt': 'x' });
    await aheadOnMain('ahead4.txt');
    const replies = await Promise.all([update(number, ada), update(number, ada), update(number, ada)]);
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await git(bare, 'rev-list', '--count', '--merges', '--first-parent', 'main..twice')).toBe('1');
  });
});

describe('a base branch that is deleted', () => {
  const timeline = async (number: number) =>
    (await ada.call('GET', `/repos/ada/work/issues/${number}/timeline`)).items;

  it('lets its pull requests go to the default branch, or closes what cannot', async () => {
    await git(tree, 'fetch', '-q', 'origin');
    await pushBranch(tree, 'stage', { 'stage.txt': 'x' }, 'origin/main');
    await pushBranch(tree, 'child', { 'child.txt': 'x' }, 'stage');
    await pushBranch(tree, 'twin', { 'twin.txt': 'x' }, 'stage');
    const open = async (head: string, base: string) =>
      (await ada.call('POST', path, { head, base, title: head })).body.number;
    const child = await open('child', 'stage');
    await open('twin', 'main');
    const twin = await open('twin', 'stage');
    const own = await open('main', 'stage');
    expect((await ada.call('DELETE', '/repos/ada/work/branches/stage')).status).toBe(204);
    const main = await git(bare, 'rev-parse', 'main');
    expect(await show(child)).toMatchObject({
      state: 'open',
      mergeable: true,
      base: { ref: 'main', sha: main },
    });
    expect((await timeline(child)).at(-1)).toMatchObject({
      type: 'change_target_branch',
      old_ref: 'stage',
      new_ref: 'main',
    });
    for (const number of [twin, own]) {
      expect(await show(number)).toMatchObject({ state: 'closed', base: { ref: 'stage', sha: '' } });
      expect((await timeline(number)).at(-1)).toMatchObject({ type: 'close' });
      const before = await stored();
      expect((await ada.call('PATCH', `${path}/${number}`, { state: 'open' })).status).toBe(422);
      expect(await stored()).toEqual(before);
    }
  });

  it('does so after a crash, too', async () => {
    await pushBranch(tree, 'stage2', { 'stage2.txt': 'x' }, 'origin/main');
    await pushBranch(tree, 'child2', { 'child2.txt': 'x' }, 'stage2');
    const { number } = (await ada.call('POST', path, { head: 'child2', base: 'stage2', title: 'c' })).body;
    const before = await git(bare, 'rev-parse', 'stage2');
    await scene.restart(async () => {
      await git(bare, 'branch', '-D', 'stage2');
      const details = { moves: [{ ref: 'refs/heads/stage2', before, after: '0'.repeat(40) }] };
      await scene.sql.run`
        insert into :schema.pushes (repository_id, actor_id, details, started_at)
        select id, owner_id, ${JSON.stringify(details)}::jsonb, now() from :schema.repositories where name = 'work'`;
    });
    expect(await show(number)).toMatchObject({ state: 'open', base: { ref: 'main' } });
  });
});
