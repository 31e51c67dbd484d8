import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { silentLog } from '@croft/runtime';
import { type Database, openDatabase } from '@croft/sql';
import {
  bundledProgram,
  type Mail,
  type SmtpSink,
  smtpSink,
  temporaryFolder,
  testDatabase,
} from '@croft/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { migrations } from '../src/open-context.ts';
import { PASSWORD, readMail, someone } from './harness.ts';

const PROGRAM = fileURLToPath(new URL('support/crash-process.ts', import.meta.url));
/** More than the outbox leaves a row in the hands of a process that may be dead. */
const AFTER_THE_LEASE_MS = 61_000;

// Each test starts two processes.
vi.setConfig({ testTimeout: 120_000 });

let stack: AsyncDisposableStack;
let databaseUrl: string;
let dataFolder: string;
let database: Database;
let service: ChildProcess;
let address: string;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  ({ url: databaseUrl } = stack.use(await testDatabase({ schema: 'auth', migrations })));
  ({ path: dataFolder } = stack.use(await temporaryFolder()));
  database = stack.adopt(openDatabase({ url: databaseUrl, schema: 'auth', log: silentLog }), (one) =>
    one.close(),
  );
});
afterEach(async () => {
  await kill();
  await stack.disposeAsync();
});

async function start(sink: SmtpSink, aheadMs = 0): Promise<void> {
  const args = [databaseUrl, dataFolder, String(sink.port), String(aheadMs)];
  service = spawn(process.execPath, [await bundledProgram(PROGRAM), ...args], {
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

async function post(path: string, body: object): Promise<number> {
  const answer = await fetch(address + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return answer.status;
}

async function until(what: string, happened: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 1_200; attempt++) {
    if (await happened()) return;
    await sleep(25);
  }
  throw new Error(`${what} did not happen`);
}

async function outboxRows(): Promise<{ attempts: number; parked: boolean }[]> {
  return await database.autocommit().rows`
    select attempts, parked_at is not null as parked from :schema.outbox order by id`;
}

/** One mail arrives, its link works, and nothing comes after it. */
async function expectOneMail(sink: SmtpSink, email: string): Promise<Mail | undefined> {
  const [mail] = await sink.received(1);
  expect(mail?.headers.get('to')).toBe(email);
  await until('the row is done', async () => (await outboxRows()).length === 0);
  await sleep(300);
  expect(sink.mails).toHaveLength(1);
  const { token } = readMail(mail);
  expect(await post('/verify', { type: 'signup', token_hash: token })).toBe(200);
  return mail;
}

test('killed between the commit and the mail: the next process sends it, once', async () => {
  await using sink = await smtpSink();
  // Whoever takes rows from the outbox waits for this lock, so the process dies at exactly this point.
  await database.autocommit().script(`
    create function auth.hold() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(4711); return new; end $$;
    create trigger hold before update on auth.outbox for each row execute function auth.hold()`);
  const holder = stack.adopt(
    openDatabase({ url: databaseUrl, schema: 'auth', log: silentLog, poolSize: 1 }),
    (one) => one.close(),
  );
  await holder.autocommit().run`select pg_advisory_lock(4711)`;

  await start(sink);
  const email = someone();
  expect(await post('/signup', { email, password: PASSWORD })).toBe(200);
  const held = async (): Promise<boolean> => {
    const row = await database.autocommit().row<{ waiting: number }>`
      select count(*) as waiting from pg_locks where locktype = 'advisory' and objid = 4711 and not granted`;
    return Number(row?.waiting) > 0;
  };
  await until('the row is being taken', held);
  await kill();
  // What the dead process had asked for must not happen after its death.
  await database.autocommit().run`
    select pg_terminate_backend(pid) from pg_locks
    where locktype = 'advisory' and objid = 4711 and not granted`;
  await until('nobody takes the row', async () => !(await held()));
  await database.autocommit().script('drop trigger hold on auth.outbox');
  expect(await outboxRows()).toEqual([{ attempts: 0, parked: false }]);
  expect(sink.mails).toEqual([]);

  await start(sink);
  await expectOneMail(sink, email);
});

test('killed while the mail server holds the mail: the next process sends it again, under the same Message-ID', async () => {
  const seen: Mail[] = [];
  const release = Promise.withResolvers<void>();
  await using sink = await smtpSink({
    async beforeAccepting(mail) {
      seen.push(mail);
      await release.promise;
    },
  });
  await start(sink);
  const email = someone();
  expect(await post('/signup', { email, password: PASSWORD })).toBe(200);
  await until('the server holds the mail', async () => seen.length === 1);
  await kill();
  await until('the server notices', async () => sink.connections === 0);
  release.resolve();
  expect(await outboxRows()).toEqual([{ attempts: 1, parked: false }]);
  expect(sink.mails).toEqual([]);

  await start(sink, AFTER_THE_LEASE_MS);
  const mail = await expectOneMail(sink, email);
  expect(seen).toHaveLength(2);
  expect(mail?.headers.get('message-id')).toMatch(/^<[a-z0-9]+-\d+@site\.example>$/);
  expect(seen[0]?.headers.get('message-id')).toBe(mail?.headers.get('message-id'));
  expect(readMail(seen[0])).toEqual(readMail(mail));
});

test('killed as soon as sign-ups are answered: every address gets its mail, and no mail is under two names', async () => {
  await using sink = await smtpSink();
  await start(sink);
  const emails = Array.from({ length: 6 }, () => someone());
  const statuses = await Promise.all(emails.map((email) => post('/signup', { email, password: PASSWORD })));
  await kill();
  expect(statuses).toEqual(emails.map(() => 200));

  await start(sink, AFTER_THE_LEASE_MS);
  await until('all rows are done', async () => (await outboxRows()).length === 0);
  const names = new Map<string, Set<string>>();
  for (const { to, headers } of sink.mails) {
    const [email = ''] = to;
    names.set(email, (names.get(email) ?? new Set()).add(headers.get('message-id') ?? ''));
  }
  expect([...names.keys()].sort()).toEqual(emails.sort());
  for (const ids of names.values()) expect(ids.size).toBe(1);
});
