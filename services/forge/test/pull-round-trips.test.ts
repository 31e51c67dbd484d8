import { join } from 'node:path';
import { silentLog } from '@croft/runtime';
import { readSettings } from '@croft/settings';
import { type Database, openDatabase } from '@croft/sql';
import { git as command } from '@croft/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Caller, callerOf } from '../src/caller/caller.ts';
import type { Context } from '../src/context.ts';
import { forgeSettings } from '../src/index.ts';
import { Links } from '../src/links.ts';
import { Git } from '../src/outside/git/git.ts';
import { listPulls } from '../src/pulls/list-pulls.ts';
import { MergeOutlooks } from '../src/pulls/merge-outlook.ts';
import { showPull } from '../src/pulls/show-pull.ts';
import * as users from '../src/store/people/users.ts';
import { commit, type Person, pushedRepository, useForge } from './forge.ts';

// What reading pull requests costs: round trips to the database, and processes besides the conversations of the repository.

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
  } as unknown as Context;
  const bob = await users.findByLogin(database.autocommit(), 'bob');
  if (bob === undefined) throw new Error('bob is missing');
  reader = callerOf(bob);
});
afterAll(async () => {
  await git.close();
  await database.close();
});

async function cost(work: () => Promise<unknown>): Promise<{ trips: number; programs: number }> {
  const started = vi.spyOn(git, 'start');
  const before = database.roundTrips;
  await work();
  const programs = started.mock.calls.length;
  started.mockRestore();
  return { trips: database.roundTrips - before, programs };
}

it('a list takes three and a program to count the changes of new heads, however many there are', async () => {
  const list = () => listPulls(context, reader, path, { limit: '50' });
  expect(await cost(list)).toEqual({ trips: 3, programs: 0 });
  for (let n = 0; n < PULLS; n++) {
    await command(tree, 'checkout', '-q', `b${n}`);
    await commit(tree, { [`more-${n}.txt`]: `${n}\n` }, `more ${n}`);
  }
  await command(tree, 'checkout', '-q', 'main');
  await command(tree, 'push', '-q', 'origin', '--all');
  const one = () => listPulls(context, reader, path, { limit: '1' });
  expect(await cost(one)).toEqual({ trips: 3, programs: 1 });
  expect(await cost(list)).toEqual({ trips: 3, programs: 1 });
  expect(await cost(list)).toEqual({ trips: 3, programs: 0 });
  const { items } = await list();
  expect(items).toHaveLength(PULLS);
  for (const item of items) expect(item).toMatchObject({ mergeable: true, changed_files: 2, additions: 2 });
});

it('and no program when the base moves', async () => {
  const base = await commit(tree, { 'base.txt': 'base\n' }, 'base');
  await command(tree, 'push', '-q', 'origin', 'main');
  const list = () => listPulls(context, reader, path, { limit: '50' });
  expect(await cost(list)).toEqual({ trips: 3, programs: 0 });
  const { items } = await list();
  expect(items).toHaveLength(PULLS);
  for (const item of items) expect(item).toMatchObject({ mergeable: true, base: { sha: base } });
});

it('a single one takes four, of which two at the same time', async () => {
  expect(await cost(() => showPull(context, reader, { ...path, index: '3' }))).toEqual({
    trips: 4,
    programs: 0,
  });
});
