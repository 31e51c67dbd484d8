import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
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

async function restart(): Promise<void> {
  await start();
  await git(tree, 'remote', 'set-url', 'origin', ada.remote('ada/work'));
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
  const queue = { rule_name: 'main', enable_push: true, enable_merge_queue: true, merge_queue_batch: 3 };
  await ada.call('POST', `${at}/branch_protections`, queue);
});
afterAll(() => stack.disposeAsync());

async function openPull(branch: string): Promise<number> {
  await git(tree, 'fetch', '-q', 'origin');
  await pushBranch(tree, branch, { [branch]: '1' }, 'origin/main');
  return (await ada.call('POST', `${at}/pulls`, { head: branch, base: 'main', title: branch })).body.number;
}

const queue = (number: number) => ada.call('POST', `${at}/pulls/${number}/merge`, {});

/** Merged in the rows exactly when the branch has it, and once. */
async function checkAgreement(): Promise<void> {
  expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
  const rows = await sql.rows<{
    number: number;
    merged: boolean;
    head_sha: string;
    merge_commit_sha: string;
  }>`
    select i.number, p.merged_at is not null as merged, p.head_sha, p.merge_commit_sha
    from :schema.pulls p join :schema.issues i on i.id = p.issue_id`;
  const onMain = (await git(bare, 'rev-list', 'main')).split('\n');
  for (const { number, merged, head_sha: head, merge_commit_sha: commit } of rows) {
    expect({ number, merged }).toEqual({ number, merged: onMain.includes(head) });
    if (merged) expect(onMain).toContain(commit);
  }
  const subjects = (await git(bare, 'log', '--format=%s', '--merges', 'main')).split('\n');
  expect(new Set(subjects).size).toBe(subjects.length);
}

const isDone = async () => (await sql.rows`select * from :schema.merge_queue`).length === 0;

it('killed between the move of the branch and the records, all of the batch are recorded at the next start', async () => {
  const numbers = [await openPull('late-1'), await openPull('late-2')];
  await sql.script(`
    create function forge.slow() returns trigger language plpgsql as 'begin perform pg_sleep(30); return new; end';
    create trigger slow before update of merged_at on forge.pulls for each row execute function forge.slow()`);
  const before = await git(bare, 'rev-parse', 'main');
  for (const number of numbers) await queue(number);
  await expect.poll(() => git(bare, 'rev-parse', 'main'), { timeout: 10_000 }).not.toBe(before);
  await kill();
  await sql.script(`
    select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep';
    drop trigger slow on forge.pulls; drop function forge.slow()`);
  await restart();
  await expect.poll(isDone, { timeout: 20_000 }).toBe(true);
  for (const number of numbers)
    expect((await ada.call('GET', `${at}/pulls/${number}/merge`)).status).toBe(204);
  expect(await sql.rows`select * from :schema.merges`).toEqual([]);
  await checkAgreement();
});

it('killed at random moments, it merges everything that was queued, once, and nothing else', async () => {
  const numbers = [];
  for (let index = 0; index < 9; index++) numbers.push(await openPull(`random-${index}`));
  const unqueued = await openPull('unqueued');
  await kill();
  await restart();
  const queued = new Set<number>();
  for (let round = 0; round < 4; round++) {
    const pending = numbers
      .filter((number) => !queued.has(number))
      .slice(0, 4)
      .map(async (number) => {
        const answer = await queue(number).catch(() => undefined);
        // A crash may come between the commit and the answer.
        if (answer !== undefined && [201, 409].includes(answer.status)) queued.add(number);
      });
    await sleep(50 + Math.random() * 250);
    await kill();
    await Promise.all(pending);
    await restart();
  }
  for (const number of numbers) if (!queued.has(number)) await queue(number);
  await expect.poll(isDone, { timeout: 30_000 }).toBe(true);
  for (const number of numbers)
    expect((await ada.call('GET', `${at}/pulls/${number}/merge`)).status).toBe(204);
  expect((await ada.call('GET', `${at}/pulls/${unqueued}/merge`)).status).toBe(404);
  expect(await sql.rows`select * from :schema.merges`).toEqual([]);
  await checkAgreement();
}, 90_000);

it('killed while checks run, it waits for the same merges at the next start', async () => {
  await ada.call('PATCH', `${at}/branch_protections/main`, {
    enable_status_check: true,
    status_check_contexts: ['ci'],
  });
  const numbers = [await openPull('checked-1'), await openPull('checked-2')];
  for (const number of numbers) await queue(number);
  const refs = () => git(bare, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/queue');
  await expect.poll(async () => (await refs()).split('\n').length, { timeout: 10_000 }).toBe(2);
  const before = await refs();
  await kill();
  // A ref that was to follow, and one whose row is gone.
  await git(bare, 'update-ref', '-d', `refs/queue/main/${numbers[0]}`);
  await git(bare, 'update-ref', 'refs/queue/main/9999', 'main');
  await restart();
  await expect.poll(refs, { timeout: 20_000 }).toBe(before);
  for (const sha of before.split('\n').map((line) => line.split(' ')[1]))
    await ada.call('POST', `${at}/statuses/${sha}`, { state: 'success', context: 'ci' });
  await expect.poll(isDone, { timeout: 20_000 }).toBe(true);
  expect(await refs()).toBe('');
  await checkAgreement();
});
