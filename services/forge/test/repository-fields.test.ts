import { join } from 'node:path';
import { silentLog, systemClock } from '@croft/runtime';
import { openDatabase } from '@croft/sql';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { maintainNext } from '../src/maintenance/maintain-repositories.ts';
import { commit, pushBranch, pushedRepository, useForge } from './forge.ts';
import { ownGit } from './own-git.ts';
import { type Cast, castOf, organization } from './repository-scene.ts';

const scene = useForge();
let cast: Cast;
let tree: string;
beforeAll(async () => {
  cast = await castOf(scene)();
  tree = await pushedRepository(cast.ada, 'garden', scene.folder);
});
const field = async (name: string, path = 'ada/garden') =>
  (await cast.ada.call('GET', `/repos/${path}`)).body[name];

it('features that are not there say so under the names of the reference', async () => {
  expect((await cast.ada.call('GET', '/repos/ada/garden')).body).toMatchObject({
    projects_mode: 'all',
    allow_merge_update: true,
    autodetect_manual_merge: false,
    default_update_style: 'merge',
    mirror_last_sync_at: '0001-01-01T00:00:00Z',
    avatar_url: '',
  });
  const { body: issue } = await cast.ada.call('POST', '/repos/ada/garden/issues', {
    title: 'x',
    projects: [1],
  });
  expect(issue['projects']).toEqual([]);
  expect((await cast.ada.call('GET', '/settings/api')).body).toMatchObject({
    default_max_response_size: 100 * 1024 * 1024,
  });
});

describe('branch_count', () => {
  it('follows pushes, the API and a merge that removes its branch', async () => {
    expect(await field('branch_count')).toBe(1);
    await pushBranch(tree, 'one', { 'one.txt': '1' });
    await git(tree, 'push', '-q', 'origin', 'main:two', 'main:three', 'main:refs/tags/v1');
    expect(await field('branch_count')).toBe(4);
    await git(tree, 'push', '-q', 'origin', ':three', 'main:four', 'main:five');
    expect(await field('branch_count')).toBe(5);
    await cast.ada.call('POST', '/repos/ada/garden/branches', { new_branch_name: 'six' });
    expect(await field('branch_count')).toBe(6);
    await cast.ada.call('PATCH', '/repos/ada/garden/branches/six', { name: 'seven' });
    expect(await field('branch_count')).toBe(6);
    await cast.ada.call('DELETE', '/repos/ada/garden/branches/seven');
    expect(await field('branch_count')).toBe(5);
    const pull = await cast.ada.call('POST', '/repos/ada/garden/pulls', {
      title: 'x',
      head: 'one',
      base: 'main',
    });
    const wish = { Do: 'merge', delete_branch_after_merge: true };
    await cast.ada.call('POST', `/repos/ada/garden/pulls/${pull.body.number}/merge`, wish);
    expect(await field('branch_count')).toBe(4);
  });

  it('is right after many at once, and starts with what there is', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `many/${index}`);
    const make = (name: string) =>
      cast.ada.call('POST', '/repos/ada/garden/branches', { new_branch_name: name });
    await Promise.all([
      ...names.map(make),
      git(tree, 'push', '-q', 'origin', 'main:pushed/1'),
      git(tree, 'push', '-q', 'origin', 'main:pushed/2'),
    ]);
    expect(await field('branch_count')).toBe(18);
    await cast.ada.call('POST', '/user/repos', { name: 'empty' });
    await cast.ada.call('POST', '/user/repos', { name: 'begun', auto_init: true });
    await cast.stranger.call('POST', '/repos/ada/garden/forks', {});
    expect(await field('branch_count', 'ada/empty')).toBe(0);
    expect(await field('branch_count', 'ada/begun')).toBe(1);
    expect(await field('branch_count', 'stranger/garden')).toBe(18);
  });
});

it('language and licenses are what maintenance saw last, in lists too; and it counts branches nobody counted', async () => {
  const wish = { name: 'program', auto_init: true, license: 'MIT' };
  await cast.ada.call('POST', '/user/repos', wish);
  await git(scene.folder, 'clone', '-q', cast.ada.remote('ada/program'), 'program');
  const files = { 'main.go': 'package main\n'.repeat(20), 'run.sh': 'exit\n' };
  await commit(join(scene.folder, 'program'), files, 'code');
  await git(join(scene.folder, 'program'), 'push', '-q', 'origin', 'main');
  expect(await field('language', 'ada/program')).toBe('');
  await scene.sql.run`update :schema.repositories set branches = null where name = 'program'`;
  expect(await field('branch_count', 'ada/program')).toBe(0);
  await using stack = new AsyncDisposableStack();
  const own = await ownGit(stack, join(scene.dataFolder, 'repositories'));
  const database = openDatabase({ url: scene.databaseUrl, schema: 'forge', log: silentLog });
  stack.defer(() => database.close());
  const clock = { now: () => new Date(systemClock.now().getTime() + 300_000) };
  const never = new AbortController().signal;
  while (await maintainNext({ git: own, clock, log: silentLog, database }, never));
  const { items } = await cast.ada.call('GET', '/user/repos');
  expect(items.find((one) => one['name'] === 'program')).toMatchObject({
    language: 'Go',
    licenses: ['MIT'],
    branch_count: 1,
  });
  expect(items.find((one) => one['name'] === 'empty')).toMatchObject({ language: '', licenses: [] });
});

it('internal is what is not private and belongs to a private organization', async () => {
  for (const visibility of ['private', 'limited']) {
    await organization(scene, visibility, { owner: cast.ada, visibility });
    await cast.ada.call('POST', `/orgs/${visibility}/repos`, { name: 'open' });
    await cast.ada.call('POST', `/orgs/${visibility}/repos`, { name: 'shut', private: true });
  }
  expect(await field('internal', 'private/open')).toBe(true);
  expect(await field('internal', 'private/shut')).toBe(false);
  expect(await field('internal', 'limited/open')).toBe(false);
  expect(await field('internal')).toBe(false);
});
