import { silentLog } from '@croft/runtime';
import { readSettings } from '@croft/settings';
import { type Database, openDatabase } from '@croft/sql';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Caller, callerOf } from '../src/caller/caller.ts';
import type { Context } from '../src/context.ts';
import { forgeSettings } from '../src/index.ts';
import { createIssue } from '../src/issues/create-issue.ts';
import { listIssues } from '../src/issues/list-issues.ts';
import { searchIssues } from '../src/issues/search-issues.ts';
import { showIssue } from '../src/issues/show-issue.ts';
import { Links } from '../src/links.ts';
import * as users from '../src/store/people/users.ts';
import { acceptTransfer } from '../src/transfers/transfer-repository.ts';
import { useForge } from './forge.ts';

// What a request costs is mostly its round trips to the database; `begin` and `commit` count. Besides these each request
// takes one to know its caller, and these are upper bounds of the design: 4 for a list, 6 for an issue, 8 for a new one.

const ACCOUNT = 1;
const scene = useForge();
let database: Database;
let context: Context;
let caller: Caller;
let reader: Caller;
beforeAll(async () => {
  const ada = scene.person('ada');
  await ada.call('POST', '/user/repos', { name: 'tools' });
  await ada.call('POST', '/user/repos', { name: 'hidden', private: true });
  await scene.person('bob').call('GET', '/user');
  await ada.call('POST', '/repos/ada/tools/labels', { name: 'bug', color: 'ff0000' });
  await ada.call('POST', '/repos/ada/tools/milestones', { title: 'v1' });
  database = openDatabase({ url: scene.databaseUrl, schema: 'forge', log: silentLog });
  const settings = readSettings(forgeSettings, {});
  // As much of it as these operations use.
  context = { settings, database, links: new Links('http://forge.test') } as unknown as Context;
  const account = async (login: string) => {
    const user = await users.findByLogin(database.autocommit(), login);
    if (user === undefined) throw new Error(`${login} is missing`);
    return callerOf(user);
  };
  [caller, reader] = [await account('ada'), await account('bob')];
  for (let number = 0; number < 20; number++) await create();
});
afterAll(() => database.close());

const path = { owner: 'ada', repo: 'tools' };
const missing = { owner: 'ada', repo: 'none' };
const hidden = { owner: 'ada', repo: 'hidden' };
const plain = { title: 'Issue', body: 'words', ref: '', deadline: undefined, closed: false };
const create = (fields: object = {}) => createIssue(context, caller, path, { ...plain, ...fields });
async function cost(work: () => Promise<unknown>): Promise<number> {
  const before = database.roundTrips;
  await work();
  return ACCOUNT + database.roundTrips - before;
}

it('a list takes four, however many issues, and however it is filtered', async () => {
  const people = { created_by: 'ada', assigned_by: 'ADA', mentioned_by: 'bob' };
  expect(await cost(() => listIssues(context, reader, path, people))).toBeLessThanOrEqual(4);
  expect(await cost(() => listIssues(context, reader, path, { created_by: 'Ada' }))).toBeLessThanOrEqual(4);
  for (const query of [{}, { q: 'words', labels: 'bug', milestones: 'v1', state: 'all' }, { q: 'nothing' }]) {
    expect(await cost(() => listIssues(context, reader, path, query))).toBeLessThanOrEqual(4);
    expect(await cost(() => searchIssues(context, reader, query))).toBeLessThanOrEqual(3);
  }
});

it('a list by people, of issues by others than them, takes no more', async () => {
  await create({ body: 'for @bob', assignees: ['ada'] });
  const lists = [
    () => listIssues(context, reader, path, { mentioned_by: 'bob' }),
    () => searchIssues(context, reader, { owner: 'ada', created_by: 'ada' }),
  ];
  for (const list of lists) expect(await cost(list)).toBeLessThanOrEqual(4);
  const { items } = await listIssues(context, reader, path, { mentioned_by: 'bob' });
  expect(items).toMatchObject([{ user: { login: 'ada' }, assignees: [{ login: 'ada' }] }]);
});

it('an issue takes four, with labels, assignees and milestone', async () => {
  await create({ labels: ['bug'], assignees: ['ada'], milestone: 1 });
  const one = { ...path, index: '22' };
  expect(await cost(() => showIssue(context, reader, one))).toBeLessThanOrEqual(4);
});

it('a new issue takes seven, with labels, assignees and milestone eight', async () => {
  expect(await cost(() => create())).toBeLessThanOrEqual(7);
  expect(await cost(() => create({ labels: ['bug'], assignees: ['ada'], milestone: 1 }))).toBeLessThanOrEqual(
    8,
  );
});

it.each([
  ['a list', (where: typeof path) => listIssues(context, reader, where, {})],
  ['taking a transfer', (where: typeof path) => acceptTransfer(context, reader, where)],
])(
  '%s: a hidden repository takes as many as a missing one, so that time does not tell',
  async (_what, ask) => {
    const refused = (where: typeof path) =>
      cost(() => expect(ask(where)).rejects.toMatchObject({ kind: 'not-found' }));
    expect(await refused(hidden)).toBe(await refused(missing));
  },
);
