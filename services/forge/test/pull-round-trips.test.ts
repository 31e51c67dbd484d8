import { join } from 'node:path';
import { silentLog, systemClock } from '@croft/runtime';
import { readSettings } from '@croft/settings';
import { type Database, openDatabase } from '@croft/sql';
import { git as command } from '@croft/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Caller, callerOf } from '../src/caller/caller.ts';
import type { Context } from '../src/context.ts';
import { beginPush, recordPush } from '../src/git-http/record-push.ts';
import { forgeSettings } from '../src/index.ts';
import { Links } from '../src/links.ts';
import { Git } from '../src/outside/git/git.ts';
import { listPulls } from '../src/pulls/list-pulls.ts';
import { MergeOutlooks } from '../src/pulls/merge-outlook.ts';
import { mergePull } from '../src/pulls/merge-pull.ts';
import { showPull } from '../src/pulls/show-pull.ts';
import { Queues } from '../src/queues.ts';
import * as users from '../src/store/people/users.ts';
import { commit, type Person, pushedRepository, useForge } from './forge.ts';

// What reading and merging pull requests costs: round trips to the database, and processes besides the conversations of the
// repository. Besides these each request takes one to know its caller.

const PULLS = 30;
const path = { owner: 'ada', repo: 'work' };
const scene = useForge();
let ada: Person;
let tree: string;
let database: Database;
let git: Git;
let context: Context;
let reader: Caller;
beforeAll(async () => {
  ada = scene.person('ada');
  await scene.person('bob').call('GET', '/user');
  tree = await pushedRepository(ada, 'work', scene.folder);
  for (let n = 0; n < PULLS; n++) {
    await command(tree, 'checkout', '-q', '-b', `b${n}`, 'main');
    await commit(tree, { [`file-${n}.txt`]: `${n}\n` }, `${n}`);
  }
  await command(tree, 'checkout', '-q', 'main');
  await command(tree, 'push', '-q', 'origin', '--all');
  for (let n = 0; n < PULLS; n++)
    await ada.call('POST', '/repos/ada/work/pulls', { head: `b${n}`, base: 'main', title: `${n}` });
  database = openDatabase({ url: scene.databaseUrl, schema: 'forge', log: silentLog });
  git = await Git.open({
    folder: join(scene.dataFolder, 'repositories'),
    command: 'git',
    searchPath: process.env['PATH'] ?? '',
    warmProcesses: 4,
    log: silentLog,
  });
  const settings = readSettings(forgeSettings, {});
  const outlooks = new MergeOutlooks(git);
  // As much of it as these operations use.
  context = {
    settings,
    database,
    links: new Links('http://forge.test'),
    git,
    outlooks,
    clock: systemClock,
    log: silentLog,
    identity: {},
    queues: new Queues(1),
  } as unknown as Context;
  reader = await callerNamed('bob');
});
afterAll(async () => {
  await git.close();
  await database.close();
});

async function callerNamed(login: string): Promise<Caller> {
  const account = await users.findByLogin(database.autocommit(), login);
  if (account === undefined) throw new Error(`${login} is missing`);
  return callerOf(account);
}

async function cost(work: () => Promise<unknown>): Promise<{ trips: number; programs: number }> {
  const started = vi.spyOn(git, 'start');
  const before = database.roundTrips;
  await work();
  const programs = started.mock.calls.length;
  started.mockRestore();
  return { trips: database.roundTrips - before, programs };
}

it('a list takes two and a program to count the changes of new heads, however many there are', async () => {
  const list = () => listPulls(context, reader, path, { limit: '50' });
  expect(await cost(list)).toEqual({ trips: 2, programs: 0 });
  for (let n = 0; n < PULLS; n++) {
    await command(tree, 'checkout', '-q', `b${n}`);
    await commit(tree, { [`more-${n}.txt`]: `${n}\n` }, `more ${n}`);
  }
  await command(tree, 'checkout', '-q', 'main');
  await command(tree, 'push', '-q', 'origin', '--all');
  const one = () => listPulls(context, reader, path, { limit: '1' });
  expect(await cost(one)).toEqual({ trips: 2, programs: 1 });
  expect(await cost(list)).toEqual({ trips: 2, programs: 1 });
  expect(await cost(list)).toEqual({ trips: 2, programs: 0 });
  const { items } = await list();
  expect(items).toHaveLength(PULLS);
  for (const item of items) expect(item).toMatchObject({ mergeable: true, changed_files: 2, additions: 2 });
});

it('one with forks takes three, whatever they are forks of', async () => {
  const [ben, eve] = [scene.person('ben'), scene.person('eve')];
  for (const [who, of, name] of [
    [ben, 'ada/work', 'bens'],
    [eve, 'ben/bens', 'eves'],
  ] as const) {
    const made = await who.call('POST', `/repos/${of}/forks`, { name });
    expect(made.status, made.text).toBe(202);
    await command(tree, 'push', '-q', who.remote(`${who.name}/${name}`), `b0:refs/heads/from-${who.name}`);
  }
  const inFork = { owner: 'ben', repo: 'bens' };
  for (const head of ['from-ben', 'eve:from-eve']) {
    const body = { head, base: 'main', title: head };
    expect((await eve.call('POST', '/repos/ben/bens/pulls', body)).status).toBe(201);
  }
  const list = () => listPulls(context, reader, inFork, { limit: '50' });
  await list();
  expect(await cost(list)).toEqual({ trips: 3, programs: 0 });
  expect((await list()).items).toMatchObject([
    { head: { repo: { parent: { full_name: 'ben/bens' } } } },
    { head: { repo: { parent: { full_name: 'ada/work' } } } },
  ]);
});

it('and no program when the base moves', async () => {
  const base = await commit(tree, { 'base.txt': 'base\n' }, 'base');
  await command(tree, 'push', '-q', 'origin', 'main');
  const list = () => listPulls(context, reader, path, { limit: '50' });
  expect(await cost(list)).toEqual({ trips: 2, programs: 0 });
  const { items } = await list();
  expect(items).toHaveLength(PULLS);
  for (const item of items) expect(item).toMatchObject({ mergeable: true, base: { sha: base } });
});

it('a push to their base is recorded in seven, and starts no program, however many there are', async () => {
  const repository = await scene.sql.row<{
    id: number;
  }>`select id from :schema.repositories where name = 'work'`;
  const id = Number(repository?.id);
  const [before, after] = (await command(tree, 'log', '-2', '--reverse', '--format=%H', 'main')).split('\n');
  const moves = [{ ref: 'refs/heads/main', before: `${before}`, after: `${after}` }];
  const known = () => scene.sql.rows`select before_sha, after_sha from :schema.base_moves order by id`;
  const already = await known();
  const push = await beginPush(context, id, reader.userId, { moves });
  expect(await cost(() => recordPush(context, push, moves))).toEqual({ trips: 7, programs: 0 });
  expect(await known()).toEqual([...already, { before_sha: before, after_sha: after }]);
});

it('a single one takes four, of which two at the same time', async () => {
  expect(await cost(() => showPull(context, reader, { ...path, index: '3' }))).toEqual({
    trips: 4,
    programs: 0,
  });
});

const plain = {
  style: 'merge',
  title: '',
  message: '',
  headCommit: '',
  mergeCommit: '',
  force: false,
  whenChecksSucceed: false,
  deleteBranch: false,
  stack: false,
};
const isMerged = (number: number) =>
  scene.sql.row`
    select from :schema.pulls p join :schema.issues i on i.id = p.issue_id
    where i.number = ${number} and p.merged_at is not null and i.closed_at is not null`;

it('a merge takes five, of which two at the same time and a third beside git', async () => {
  const merger = await callerNamed('ada');
  const merge = (number: number, style: string) =>
    cost(() => mergePull(context, merger, { ...path, index: `${number}` }, { ...plain, style }));
  for (const [number, style, programs] of [
    [4, 'merge', 0],
    [5, 'squash', 0],
    // git lists what there is to pick.
    [6, 'rebase', 1],
  ] as const) {
    expect(await merge(number, style)).toEqual({ trips: 5, programs });
    expect(await isMerged(number)).toBeDefined();
  }
});

it('by somebody else one more, for its author, also where the branch is protected', async () => {
  await ada.call('PUT', '/repos/ada/work/collaborators/bob', { permission: 'write' });
  await ada.call('POST', '/repos/ada/work/branch_protections', {
    rule_name: 'main',
    enable_merge_whitelist: true,
    merge_whitelist_usernames: ['bob'],
  });
  const merge = (number: number) =>
    cost(() => mergePull(context, reader, { ...path, index: `${number}` }, plain));
  expect(await merge(7)).toEqual({ trips: 6, programs: 0 });
  expect(await isMerged(7)).toBeDefined();
});

it('into a branch from which others are open, these are looked at and follow', async () => {
  await ada.call('DELETE', '/repos/ada/work/branch_protections/main');
  await command(tree, 'push', '-q', 'origin', 'main:release');
  const opened = { head: 'main', base: 'release', title: 'release' };
  const { number } = (await ada.call('POST', '/repos/ada/work/pulls', opened)).body;
  const { trips } = await cost(() => mergePull(context, reader, { ...path, index: '8' }, plain));
  expect(trips).toBeGreaterThan(6);
  const merged = await ada.call('GET', '/repos/ada/work/pulls/8');
  const tip = merged.body.merge_commit_sha;
  // As it is stored: what is shown of an open one is where its branch is.
  const row = await scene.sql.row`
    select head_sha, written_sha from :schema.pulls p join :schema.issues i on i.id = p.issue_id
    where i.number = ${number}`;
  expect(row).toEqual({ head_sha: tip, written_sha: tip });
});
