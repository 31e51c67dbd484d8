import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, expect, it } from 'vitest';
import { commit, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';

// What timelines of pull requests tell of their heads.

const scene = useForge();
let ada: Person;
let bob: Person;
let tree: string;
beforeAll(async () => {
  [ada, bob] = [scene.person('ada'), scene.person('bob')];
  await bob.call('GET', '/user');
  tree = await pushedRepository(ada, 'work', scene.folder);
});

const path = '/repos/ada/work/pulls';
async function open(branch: string): Promise<number> {
  await pushBranch(tree, branch, { [`${branch}.txt`]: '1' }, 'origin/main');
  return (await ada.call('POST', path, { head: branch, base: 'main', title: branch })).body.number;
}
const headOf = async (number: number) => (await ada.call('GET', `${path}/${number}`)).body.head.sha;
type Told = [string, { is_force_push: boolean; commit_ids: string[] }];
/** Who pushed, and what is told of it, after what the pull request was opened with. */
const pushes = async (number: number): Promise<Told[]> => (await allPushes(number)).slice(1);
async function allPushes(number: number): Promise<Told[]> {
  const { items } = await ada.call('GET', `/repos/ada/work/issues/${number}/timeline`);
  return items
    .filter((entry) => entry['type'] === 'pull_push')
    .map((entry) => [(entry['user'] as { login: string }).login, JSON.parse(String(entry['body']))]);
}

it('what it brings when it is opened, oldest first, and nothing where that is nothing', async () => {
  await git(tree, 'fetch', '-q', 'origin');
  await pushBranch(tree, 'opening', { 'one.txt': '1' }, 'origin/main');
  await git(tree, 'checkout', '-q', 'opening');
  const ids = [await git(tree, 'rev-parse', 'HEAD'), await commit(tree, { 'two.txt': '2' }, 'two')];
  await git(tree, 'push', '-q', 'origin', 'opening', 'origin/main:refs/heads/empty');
  await git(tree, 'checkout', '-q', 'main');
  const opened = { head: 'opening', base: 'main', title: 'Opening' };
  const { number } = (await ada.call('POST', path, opened)).body;
  expect(await allPushes(number)).toEqual([['ada', { is_force_push: false, commit_ids: ids }]]);
  const empty = await ada.call('POST', path, { head: 'empty', base: 'main', title: 'Empty' });
  expect(empty.status, empty.text).toBe(201);
  expect(await allPushes(empty.body.number)).toEqual([]);
});

it('pushes, with their commits oldest first, and forced ones with both heads', async () => {
  const number = await open('plain');
  expect(await pushes(number)).toEqual([]);
  await git(tree, 'checkout', '-q', 'plain');
  const first = await git(tree, 'rev-parse', 'HEAD');
  const ids = [await commit(tree, { 'a.txt': 'a' }, 'a'), await commit(tree, { 'b.txt': 'b' }, 'b')];
  await git(tree, 'push', '-q', 'origin', 'plain');
  await git(tree, 'reset', '-q', '--hard', first);
  await git(tree, 'push', '-q', '-f', 'origin', 'plain');
  expect(await pushes(number)).toEqual([
    ['ada', { is_force_push: false, commit_ids: ids }],
    ['ada', { is_force_push: true, commit_ids: [ids[1], first] }],
  ]);
  // The same again is none, and neither is one while it is closed.
  await git(tree, 'push', '-q', 'origin', 'plain');
  await ada.call('PATCH', `${path}/${number}`, { state: 'closed' });
  await commit(tree, { 'c.txt': 'c' }, 'c');
  await git(tree, 'push', '-q', 'origin', 'plain');
  await git(tree, 'checkout', '-q', 'main');
  expect(await pushes(number)).toHaveLength(2);
});

it('files written by the API, updates without the commits of the base, and rebases', async () => {
  const number = await open('api');
  const file = { content: 'YQ==', message: 'by api', branch: 'api' };
  await ada.call('POST', '/repos/ada/work/contents/by-api.txt', file);
  const written = await headOf(number);
  await git(tree, 'checkout', '-q', 'main');
  await commit(tree, { 'main.txt': 'main' }, 'on main');
  await git(tree, 'push', '-q', 'origin', 'main');
  expect((await ada.call('POST', `${path}/${number}/update?style=merge`)).status).toBe(200);
  const merged = await headOf(number);
  await commit(tree, { 'main2.txt': 'main' }, 'on main again');
  await git(tree, 'push', '-q', 'origin', 'main');
  expect((await ada.call('POST', `${path}/${number}/update?style=rebase`)).status).toBe(200);
  expect(await pushes(number)).toEqual([
    ['ada', { is_force_push: false, commit_ids: [written] }],
    ['ada', { is_force_push: false, commit_ids: [merged] }],
    ['ada', { is_force_push: true, commit_ids: [merged, await headOf(number)] }],
  ]);
});

it('pushes to forks, and merges into a branch that is the head of another one', async () => {
  await bob.call('POST', '/repos/ada/work/forks', { name: 'bobs' });
  const clone = join(scene.folder, 'bobs');
  await git(scene.folder, 'clone', '-q', bob.remote('bob/bobs'), clone);
  await pushBranch(clone, 'far', { 'far.txt': '1' });
  const made = await bob.call('POST', path, { head: 'bob:far', base: 'main', title: 'far' });
  await git(clone, 'checkout', '-q', 'far');
  const id = await commit(clone, { 'more.txt': '1' }, 'more');
  await git(clone, 'push', '-q', 'origin', 'far');
  expect(await pushes(made.body.number)).toEqual([['bob', { is_force_push: false, commit_ids: [id] }]]);

  const below = await open('below');
  await pushBranch(tree, 'above', { 'above.txt': '1' }, 'below');
  const above = await ada.call('POST', path, { head: 'above', base: 'below', title: 'above' });
  const aboveHead = await git(tree, 'rev-parse', 'above');
  await ada.call('POST', `${path}/${above.body.number}/merge`, { Do: 'merge' });
  const [[who, told] = []] = await pushes(below);
  const merge = await headOf(below);
  expect([who, told?.is_force_push, told?.commit_ids]).toEqual(['ada', false, [aboveHead, merge]]);
  // And of the merge itself.
  const { items } = await ada.call('GET', `/repos/ada/work/issues/${above.body.number}/timeline`);
  const merges = items.filter((entry) => entry['type'] === 'merge_pull');
  expect(merges).toMatchObject([{ user: { login: 'ada' }, ref_commit_sha: merge }]);
});

it('the newest 250 commits of a long push', async () => {
  const number = await open('long');
  await git(tree, 'checkout', '-q', 'long');
  for (let n = 0; n < 252; n++) await git(tree, 'commit', '-q', '--allow-empty', '-m', `${n}`);
  await git(tree, 'push', '-q', 'origin', 'long');
  const [[, told] = []] = await pushes(number);
  expect(told?.commit_ids).toHaveLength(250);
  expect(told?.commit_ids.at(-1)).toBe(await git(tree, 'rev-parse', 'HEAD'));
  await git(tree, 'checkout', '-q', 'main');
});
