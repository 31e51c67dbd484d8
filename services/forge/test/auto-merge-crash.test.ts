import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { silentLog } from '@croft/runtime';
import { openDatabase, type Tx } from '@croft/sql';
import { git, temporaryFolder, testDatabase } from '@croft/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Person, personWith, pushBranch, pushedRepository, SECRET, tokenFor } from './forge.ts';

const PROGRAM = fileURLToPath(new URL('./forge-process.ts', import.meta.url));
const stack = new AsyncDisposableStack();
const ada: Person = personWith('ada', tokenFor('ada'), () => address);
const at = '/repos/ada/work';
let sql: Tx;
let databaseUrl: string;
let dataFolder: string;
let service: ChildProcess;
let address: string;
let tree: string;
let bare: string;

async function start(): Promise<void> {
  service = spawn(process.execPath, [PROGRAM, databaseUrl, dataFolder, SECRET], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(service.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  address = line.toString().trim();
}

async function kill(): Promise<void> {
  if (service.signalCode !== null || service.exitCode !== null) return;
  service.kill('SIGKILL');
  await once(service, 'exit');
}

beforeAll(async () => {
  ({ url: databaseUrl } = stack.use(
    await testDatabase({ schema: 'forge', migrations: new URL('../migrations/', import.meta.url) }),
  ));
  ({ path: dataFolder } = stack.use(await temporaryFolder()));
  const { path: folder } = stack.use(await temporaryFolder());
  sql = stack
    .adopt(openDatabase({ url: databaseUrl, schema: 'forge', log: silentLog }), (one) => one.close())
    .autocommit();
  await start();
  stack.defer(kill);
  tree = await pushedRepository(ada, 'work', folder);
  const row = await sql.row<{ id: number }>`select id from :schema.repositories`;
  bare = join(dataFolder, 'repositories', `${row?.id}.git`);
  const protection = { rule_name: 'main', enable_push: true, enable_status_check: true };
  await ada.call('POST', `${at}/branch_protections`, protection);
});
afterAll(() => stack.disposeAsync());

/** A pull request that waits for its check. */
async function openScheduled(branch: string): Promise<{ number: number; head: string }> {
  await git(tree, 'remote', 'set-url', 'origin', ada.remote('ada/work'));
  await git(tree, 'fetch', '-q', 'origin');
  const head = await pushBranch(tree, branch, { [branch]: '1' }, 'origin/main');
  const { body } = await ada.call('POST', `${at}/pulls`, { head: branch, base: 'main', title: branch });
  const wish = { merge_when_checks_succeed: true, delete_branch_after_merge: true };
  expect((await ada.call('POST', `${at}/pulls/${body.number}/merge`, wish)).status).toBe(201);
  return { number: body.number, head };
}

/** It is merged, once, and its branch is gone. */
async function checkMerged(number: number, branch: string): Promise<void> {
  const isMerged = async () => (await ada.call('GET', `${at}/pulls/${number}/merge`)).status;
  await expect.poll(isMerged, { timeout: 90_000 }).toBe(204);
  await expect.poll(() => git(bare, 'branch', '--list', branch), { timeout: 90_000 }).toBe('');
  const subject = `Merge pull request '${branch}' (#${number}) from ${branch} into main`;
  expect(
    (await git(bare, 'log', '--format=%s', 'main')).split('\n').filter((one) => one === subject),
  ).toEqual([subject]);
  expect(await sql.rows`select * from :schema.scheduled_merges`).toEqual([]);
  expect(await sql.rows`select * from :schema.merges`).toEqual([]);
  expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
}

it('killed before anybody looked at a check that succeeded, it is merged by the next start', async () => {
  const { number, head } = await openScheduled('unseen');
  await expect.poll(() => sql.rows`select from :schema.outbox where topic = 'scheduled-merge'`).toEqual([]);
  await kill();
  await sql.run`
    insert into :schema.commit_statuses
      (repository_id, sha, state, context, target_url, description, creator_id, created_at, updated_at)
    select id, ${head}, 'success', 'ci', '', '', owner_id, now(), now() from :schema.repositories`;
  await start();
  await checkMerged(number, 'unseen');
});

it('killed between the move of the branch and its record, it is merged once and its branch deleted', async () => {
  const { number, head } = await openScheduled('halved');
  await sql.script(`
    create function forge.slow() returns trigger language plpgsql as 'begin perform pg_sleep(30); return new; end';
    create trigger slow before update on forge.pulls for each row execute function forge.slow()`);
  const before = await git(bare, 'rev-parse', 'main');
  await ada.call('POST', `${at}/statuses/${head}`, { context: 'ci', state: 'success' });
  await expect.poll(() => git(bare, 'rev-parse', 'main'), { timeout: 10_000 }).not.toBe(before);
  await kill();
  await sql.script(`
    select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep';
    drop trigger slow on forge.pulls; drop function forge.slow()`);
  await start();
  await checkMerged(number, 'halved');
});
