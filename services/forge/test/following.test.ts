import { join } from 'node:path';
import { silentLog, systemClock } from '@croft/runtime';
import { readSettings } from '@croft/settings';
import { type Database, openDatabase, type Tx } from '@croft/sql';
import { git as command } from '@croft/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renameBranch } from '../src/branches/rename-branch.ts';
import { type Caller, callerOf } from '../src/caller/caller.ts';
import type { Context } from '../src/context.ts';
import { beginPush, recordPush, takeUpPushes } from '../src/git-http/record-push.ts';
import { forgeSettings } from '../src/index.ts';
import { Links } from '../src/links.ts';
import { MergeOutlooks } from '../src/pulls/merge-outlook.ts';
import { syncPulls } from '../src/pulls/sync-pulls.ts';
import { Queues } from '../src/queues.ts';
import * as users from '../src/store/people/users.ts';
import type { RefMove } from '../src/store/repositories/pushes.ts';
import { commit, pushBranch, useForge } from './forge.ts';
import { type ForkScene, forkScene } from './fork-scene.ts';
import { recordHappenings } from './happenings.ts';
import { ownGit } from './own-git.ts';

// How pull requests follow their heads, asked of the operations themselves: with queues that a test can hold.

const scene = useForge();
const stack = new AsyncDisposableStack();
let forks: ForkScene;
let database: Database;
let context: Context;
let ada: Caller;
let work: number;
beforeAll(async () => {
  forks = await forkScene(scene);
  const opened = openDatabase({ url: scene.databaseUrl, schema: 'forge', log: silentLog });
  database = stack.adopt(opened, (one) => one.close());
  const git = await ownGit(stack, join(scene.dataFolder, 'repositories'));
  // As much of it as these operations use.
  context = {
    settings: readSettings(forgeSettings, {}),
    database,
    links: new Links('http://forge.test'),
    git,
    outlooks: new MergeOutlooks(git),
    clock: systemClock,
    log: silentLog,
    identity: {},
    queues: new Queues(1),
  } as unknown as Context;
  const account = await users.findByLogin(database.autocommit(), 'ada');
  if (account === undefined) throw new Error('ada is missing');
  ada = callerOf(account);
  work = await idOf('work');
});
afterAll(() => stack.disposeAsync());

const idOf = async (name: string) =>
  Number((await scene.sql.row<{ id: number }>`select id from :schema.repositories where name = ${name}`)?.id);
async function restart(whileDown?: () => Promise<void>): Promise<void> {
  await scene.restart(whileDown);
  await command(forks.tree, 'remote', 'set-url', 'origin', forks.ada.remote('ada/work'));
  await command(forks.forked, 'remote', 'set-url', 'origin', forks.bob.remote('bob/bobs'));
}
/** A branch of `ada/work` with a pull request from it, which has this number. */
async function pull(branch: string): Promise<number> {
  await pushBranch(forks.tree, branch, { [`${branch}.txt`]: branch }, 'main');
  const opened = { head: branch, base: 'main', title: branch };
  return (await forks.ada.call('POST', '/repos/ada/work/pulls', opened)).body.number;
}
/** Moves a branch of `ada/work` on behind the forge's back. */
async function moveOn(branch: string): Promise<RefMove> {
  const before = await command(forks.bare, 'rev-parse', branch);
  await command(forks.tree, 'checkout', '-q', branch);
  const after = await commit(forks.tree, { [`${branch}.txt`]: `after ${before}` }, 'more');
  await command(forks.tree, 'push', '-q', forks.bare, branch);
  return { ref: `refs/heads/${branch}`, before, after };
}
const rowOf = (number: number) => scene.sql.row`
  select p.head_branch, p.base_branch, i.closed_at is not null as closed
  from :schema.pulls p join :schema.issues i on i.id = p.issue_id
  where i.repository_id = ${work} and i.number = ${number}`;

describe('a branch that gets another name', () => {
  it('keeps its pull requests while another push is recorded', async () => {
    const number = await pull('named');
    const other = openDatabase({ url: scene.databaseUrl, schema: 'forge', log: silentLog });
    const [isHeld, mayGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // Whoever gives it the other name waits here, with the branch moved.
    const holding = other.transaction(async (tx) => {
      await tx.rows`select from :schema.pulls where head_branch = 'named' for update`;
      isHeld.resolve();
      await mayGo.promise;
    });
    await isHeld.promise;
    const path = { owner: 'ada', repo: 'work', branch: 'named' };
    const renaming = renameBranch(context, ada, path, 'renamed');
    const waiting = () => scene.sql.rows`
      select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    await expect.poll(waiting).not.toEqual([]);
    const following = syncPulls(context, { id: work });
    await Promise.race([following, new Promise((resolve) => setTimeout(resolve, 300))]);
    mayGo.resolve();
    await Promise.all([holding, renaming, following]);
    await other.close();
    expect(await rowOf(number)).toEqual({ head_branch: 'renamed', base_branch: 'main', closed: false });
    expect(await scene.sql.rows`select id from :schema.pushes`).toEqual([]);
  });

  it('keeps those into other repositories, whose queues it does not stand in', async () => {
    await pushBranch(forks.forked, 'forked', { 'forked.txt': 'x' }, 'origin/main');
    const opened = { head: 'bob:forked', base: 'main', title: 'forked' };
    const { number } = (await forks.bob.call('POST', '/repos/ada/work/pulls', opened)).body;
    const bobs = await idOf('bobs');
    const tip = await command(forks.bobs, 'rev-parse', 'forked');
    const gone = '0'.repeat(40);
    const moves = [
      { ref: 'refs/heads/other', before: gone, after: tip },
      { ref: 'refs/heads/forked', before: tip, after: gone },
    ];
    const renamed = { from: 'forked', to: 'other' };
    const push = await beginPush(context, bobs, ada.userId, { moves, renamed });
    await command(forks.bobs, 'branch', '-m', 'forked', 'other');
    await syncPulls(context, { id: bobs });
    expect(await rowOf(number)).toEqual({ head_branch: 'forked', base_branch: 'main', closed: false });
    await recordPush(context, push, moves);
    expect(await rowOf(number)).toEqual({ head_branch: 'other', base_branch: 'main', closed: false });
    await restart();
    expect(await scene.sql.rows`select id from :schema.pushes`).toEqual([]);
  });

  it('keeps them when a push from before a crash is taken over first', async () => {
    const number = await pull('early');
    const tip = await command(forks.bare, 'rev-parse', 'early');
    const gone = '0'.repeat(40);
    const intend = (details: object) => scene.sql.run`
      insert into :schema.pushes (repository_id, actor_id, details, started_at)
      select id, owner_id, ${JSON.stringify(details)}::jsonb, now() from :schema.repositories where id = ${work}`;
    await restart(async () => {
      await command(forks.bare, 'branch', 'unrelated', 'main');
      await command(forks.bare, 'branch', '-m', 'early', 'late');
      const main = await command(forks.bare, 'rev-parse', 'main');
      await intend({ moves: [{ ref: 'refs/heads/unrelated', before: gone, after: main }] });
      const moves = [
        { ref: 'refs/heads/late', before: gone, after: tip },
        { ref: 'refs/heads/early', before: tip, after: gone },
      ];
      await intend({ moves, renamed: { from: 'early', to: 'late' } });
    });
    expect(await rowOf(number)).toEqual({ head_branch: 'late', base_branch: 'main', closed: false });
    expect(await scene.sql.rows`select id from :schema.pushes`).toEqual([]);
  });
});

describe('a push', () => {
  const rows: object[] = [];
  /** Records it, and returns the pull requests that were read for it, whole rows. */
  async function readFor(repository: number, ...moves: RefMove[]): Promise<object[]> {
    rows.length = 0;
    const tx = database.autocommit();
    const watched: Tx = {
      ...tx,
      async rows<Row extends object>(...statement: Parameters<Tx['rows']>) {
        const found = await tx.rows<Row>(...statement);
        rows.push(...found);
        return found;
      },
    };
    const watching = { ...context, database: { ...database, autocommit: () => watched } };
    await recordPush(watching, await beginPush(context, repository, ada.userId, { moves }), moves);
    expect(await scene.sql.rows`select id from :schema.pushes`).toEqual([]);
    return rows.filter((row) => 'head_sha' in row);
  }

  it('asks for the open pull requests from its branches, for no others and for no texts', async () => {
    const texts = { base: 'main', body: 'x'.repeat(10_000) };
    for (const branch of ['asked', 'another']) {
      await pushBranch(forks.forked, branch, { [branch]: branch }, 'origin/main');
      const opened = { ...texts, head: `bob:${branch}`, title: branch };
      expect((await forks.bob.call('POST', '/repos/ada/work/pulls', opened)).status).toBe(201);
      await pull(`own-${branch}`);
    }
    const [before, after] = [
      await command(forks.bobs, 'rev-parse', 'asked'),
      await command(forks.bobs, 'rev-parse', 'another'),
    ];
    const bobs = await idOf('bobs');
    const read = (ref: string, repository = bobs) => readFor(repository, { ref, before, after });
    expect(await read('refs/heads/main')).toEqual([]);
    expect(await read('refs/tags/asked')).toEqual([]);
    const found = [
      ...(await read('refs/heads/asked')),
      ...(await read('refs/heads/own-asked', work)),
      ...(await readFor(work, { ref: 'refs/heads/main', before, after: '0'.repeat(40) })),
    ];
    expect(found.length).toBeGreaterThan(4);
    expect(found.filter((row) => 'body' in row || 'title' in row)).toEqual([]);
    const heads = new Set(found.slice(0, 2).map((row) => (row as { head_branch: string }).head_branch));
    expect(heads).toEqual(new Set(['asked']));
  });

  it('lets the pull requests from all of its branches follow', async () => {
    const numbers = [await pull('first'), await pull('second')];
    const moves: RefMove[] = [];
    for (const branch of ['first', 'second']) moves.push(await moveOn(branch));
    const heads = () =>
      Promise.all(numbers.map((number) => command(forks.bare, 'rev-parse', `refs/pull/${number}/head`)));
    await recordPush(context, await beginPush(context, work, ada.userId, { moves }), moves);
    expect(await heads()).toEqual(moves.map(({ after }) => after));
  });
});

/** Has the database refuse to move the heads of pull requests from `refused…` until it is told otherwise. */
async function refuseHeads(): Promise<() => Promise<unknown>> {
  await scene.sql.run`
    create or replace function :schema.refuse() returns trigger language plpgsql as
    $$ begin if new.head_branch like 'refused%' and new.head_sha <> old.head_sha then raise 'refused'; end if; return new; end $$`;
  await scene.sql.run`
    create or replace trigger refuse before update on :schema.pulls for each row execute function :schema.refuse()`;
  return () => scene.sql.run`drop function :schema.refuse cascade`;
}

describe('a pull request that cannot follow', () => {
  const refOf = (number: number) => command(forks.bare, 'rev-parse', `refs/pull/${number}/head`);

  it('keeps neither others from it nor the push from being told of', async () => {
    const numbers = [await pull('refused'), await pull('follows')];
    const moves: RefMove[] = [];
    for (const branch of ['refused', 'follows']) moves.push(await moveOn(branch));
    await recordHappenings(scene);
    const allow = await refuseHeads();
    const [before, after] = [moves[0]?.before, moves[1]?.after];
    await recordPush(context, await beginPush(context, work, ada.userId, { moves }), moves);
    expect(await Promise.all(numbers.map(refOf))).toEqual([before, after]);
    expect(
      await scene.sql.rows`select payload->>'ref' as ref from :schema.told where payload->>'kind' = 'ref'`,
    ).toEqual(moves.map(({ ref }) => ({ ref })));
    expect(await scene.sql.rows`select details->'moves' as moves from :schema.pushes`).toEqual([
      { moves: [] },
    ]);
    await allow();
    await restart();
    expect(await Promise.all(numbers.map(refOf))).toEqual(moves.map((move) => move.after));
    expect(await scene.sql.rows`select id from :schema.pushes`).toEqual([]);
  });

  it('does not keep a merge into its head from being answered', async () => {
    await command(forks.tree, 'push', '-q', 'origin', 'main:refs/heads/refused-base');
    const opened = { head: 'refused-base', base: 'asked-base', title: 'above' };
    await command(forks.tree, 'push', '-q', 'origin', 'main:refs/heads/asked-base');
    const above = (await forks.ada.call('POST', '/repos/ada/work/pulls', opened)).body.number;
    await pushBranch(forks.tree, 'merging', { merging: '1' }, 'main');
    const merging = { head: 'merging', base: 'refused-base', title: 'merging' };
    const { number } = (await forks.ada.call('POST', '/repos/ada/work/pulls', merging)).body;
    const allow = await refuseHeads();
    const merged = await forks.ada.call('POST', `/repos/ada/work/pulls/${number}/merge`, {});
    expect(merged.status).toBe(200);
    await allow();
    await restart();
    expect(await refOf(above)).toBe(await command(forks.bare, 'rev-parse', 'refused-base'));
    expect(await scene.sql.rows`select id from :schema.pushes`).toEqual([]);
  });
});

describe('a push that was not recorded', () => {
  const never = new AbortController().signal;
  /** As the round does it in some minutes. */
  const later = (minutes = 10) => {
    const now = new Date(Date.now() + minutes * 60_000);
    return takeUpPushes({ ...context, clock: { now: () => now } }, never);
  };
  const told = async () =>
    (
      await scene.sql.rows<{ payload: object }>`
        select payload from :schema.told where payload->>'kind' = 'ref' order by id`
    ).map(({ payload }) => payload);
  const left = () => scene.sql.rows`select id from :schema.pushes`;

  it('is taken up again, and told of once, wherever its branch is by then', async () => {
    await scene.sql.run`delete from :schema.told`;
    const number = await pull('unrecorded');
    await scene.sql.run`delete from :schema.told`;
    const move = await moveOn('unrecorded');
    const push = await beginPush(context, work, ada.userId, { moves: [move] });
    await scene.sql.run`
      create function :schema.stay() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`;
    await scene.sql.run`
      create trigger stay before delete on :schema.pushes for each row execute function :schema.stay()`;
    await recordPush(context, push, [move]);
    const next = await moveOn('unrecorded');
    await later();
    expect(await left()).toHaveLength(1);
    expect(await told()).toEqual([]);
    await scene.sql.run`drop function :schema.stay cascade`;
    await takeUpPushes(context, never);
    expect(await left()).toHaveLength(1);
    await later();
    expect(await left()).toEqual([]);
    expect(await told()).toMatchObject([{ kind: 'ref', ...move }]);
    expect(await command(forks.bare, 'rev-parse', `refs/pull/${number}/head`)).toBe(next.after);
  });

  it('is left alone while it is under way', async () => {
    const move = await moveOn('unrecorded');
    const push = await beginPush(context, work, ada.userId, { moves: [move] });
    await later();
    expect(await left()).toHaveLength(1);
    await recordPush(context, push, [move]);
    expect(await left()).toEqual([]);
  });

  it('is looked at again for a pull request that did not follow', async () => {
    const number = await pull('refused-once');
    const move = await moveOn('refused-once');
    const allow = await refuseHeads();
    await recordPush(context, await beginPush(context, work, ada.userId, { moves: [move] }), [move]);
    await later();
    expect(await left()).toHaveLength(1);
    await allow();
    await later();
    expect(await left()).toEqual([]);
    expect(await command(forks.bare, 'rev-parse', `refs/pull/${number}/head`)).toBe(move.after);
  });

  it('is looked at again ever more rarely, and several times a day at least', async () => {
    const number = await pull('refused-often');
    const move = await moveOn('refused-often');
    const allow = await refuseHeads();
    await recordPush(context, await beginPush(context, work, ada.userId, { moves: [move] }), [move]);
    const tries = async () =>
      (await scene.sql.row<{ again: number }>`select (details->>'again')::int as again from :schema.pushes`)
        ?.again;
    for (const [minutes, expected] of [
      [10, 2],
      [10, 3],
      // Ten minutes by now, then twenty.
      [9, 3],
      [11, 4],
      [19, 4],
      [21, 5],
    ] as const) {
      await later(minutes);
      expect([minutes, await tries()]).toEqual([minutes, expected]);
    }
    await scene.sql.run`update :schema.pushes set details = jsonb_set(details, '{again}', '1000000')`;
    await allow();
    await later(6 * 60);
    expect(await left()).toEqual([]);
    expect(await command(forks.bare, 'rev-parse', `refs/pull/${number}/head`)).toBe(move.after);
  });
});
