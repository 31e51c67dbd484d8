import { randomUUID } from 'node:crypto';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { silentLog } from '@croft/runtime';
import { temporaryFolder, testDatabase } from '@croft/testing';
import pg from 'pg';
import { expect, it } from 'vitest';
import { type Database, migrate, openDatabase } from '../src/index.ts';

const migrations = new URL('./migrations/', import.meta.url);

/** A database at today's version, and a folder of migrations one file ahead of it. */
async function upgradeOf(sql: string) {
  const stack = new AsyncDisposableStack();
  const home = stack.use(await testDatabase({ schema: 'bank', migrations }));
  const folder = stack.use(await temporaryFolder());
  await cp(fileURLToPath(migrations), folder.path, { recursive: true });
  await writeFile(join(folder.path, '0002_later.sql'), sql);
  const database = stack.adopt(
    openDatabase({ url: home.url, schema: 'bank', log: silentLog, poolSize: 2 }),
    (one) => one.close(),
  );
  return {
    url: home.url,
    database,
    later: pathToFileURL(`${folder.path}/`),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** The ledger and the tables there are. */
async function state(database: Database): Promise<object[]> {
  const ledger = await database.autocommit().rows`select * from :schema.croft_migrations order by name`;
  const tables = await database.autocommit()
    .rows`select relname from pg_class where relnamespace = 'bank'::regnamespace order by relname`;
  return [...ledger, ...tables];
}

it('applies each file once, however many processes start together', async () => {
  await using fresh = await testDatabase();
  const databases = Array.from({ length: 4 }, () =>
    openDatabase({ url: fresh.url, schema: 'x"y', log: silentLog }),
  );
  const applied = await Promise.all(databases.map((one) => migrate(one, migrations)));
  expect(applied.flat().sort()).toEqual(['0000_outbox', '0001_accounts', '0001_outbox-lanes']);
  expect(await migrate(databases[0] as Database, migrations)).toEqual([]);
  await Promise.all(databases.map((one) => one.close()));
});

it('leaves nothing behind when a file fails', async () => {
  await using fresh = await testDatabase();
  const one = openDatabase({ url: fresh.url, schema: 'broken', log: silentLog });
  await expect(migrate(one, new URL('./broken-migrations/', import.meta.url))).rejects.toThrow('nonsense');
  expect(await one.autocommit().rows`select 1 from pg_namespace where nspname = 'broken'`).toEqual([]);
  await one.close();
});

it('refuses a file that was changed after it had been applied', async () => {
  await using fresh = await testDatabase({ schema: 'bank', migrations });
  const one = openDatabase({ url: fresh.url, schema: 'bank', log: silentLog });
  await one.autocommit()
    .run`update :schema.croft_migrations set checksum = 'other' where name = '0001_accounts'`;
  await expect(migrate(one, migrations)).rejects.toThrow('0001_accounts was changed');
  await one.close();
});

it('refuses tables of a later version, names what it does not know and says what to do', async () => {
  await using upgrade = await upgradeOf('create table :schema.later (id int)');
  const { database, later } = upgrade;
  expect(await migrate(database, later)).toEqual(['0002_later']);
  const before = await state(database);
  await expect(migrate(database, migrations)).rejects.toMatchObject({
    name: 'StartError',
    message: expect.stringMatching(
      /schema "bank".*later version.*0002_later\. Start that version.*restore the backup/,
    ),
  });
  expect(await state(database)).toEqual(before);
  expect(await migrate(database, later)).toEqual([]);
});

it('leaves the schema of another program as it is, and says what to do', async () => {
  await using home = await testDatabase();
  const database = openDatabase({ url: home.url, schema: 'bank', log: silentLog, poolSize: 1 });
  const run = database.autocommit();
  const relations = () => run.rows`
    select relname from pg_class where relnamespace = 'bank'::regnamespace order by relname`;
  try {
    await run.script('create schema bank; create table bank.accounts (number text)');
    const before = await relations();
    for (const options of [{}, { ifTaken: 'Ask Ada.' }]) {
      await expect(migrate(database, migrations, options)).rejects.toMatchObject({
        name: 'StartError',
        message: `The schema "bank" is in use by another program: relation "accounts" already exists. Nothing in it was changed. ${options.ifTaken ?? 'Give Croft a schema of its own.'}`,
      });
    }
    expect(await relations()).toEqual(before);
    // Tables of other names are in nobody's way.
    await run.script('alter table bank.accounts rename to books');
    expect(await migrate(database, migrations)).toContain('0001_accounts');
  } finally {
    await database.close();
  }
});

it('beside a running service changes nothing, and says what to do', async () => {
  await using upgrade = await upgradeOf('create table :schema.later (id int)');
  const { database, later, url } = upgrade;
  const service = new pg.Client({ connectionString: url, application_name: 'croft bank outbox' });
  await service.connect();
  const before = await state(database);
  await expect(migrate(database, later, { unlessRunning: true })).rejects.toMatchObject({
    name: 'StartError',
    message: expect.stringMatching(/older version.*running.*"bank".*Stop it and start this version first/),
  });
  expect(await state(database)).toEqual(before);
  // Nothing to apply, nothing to refuse.
  expect(await migrate(database, migrations, { unlessRunning: true })).toEqual([]);
  await service.end();
  // The server takes a moment to notice that a client is gone.
  await expect
    .poll(() => migrate(database, later, { unlessRunning: true }).catch(() => undefined))
    .toEqual(['0002_later']);
});

it('makes the tables of an empty database for a task, whoever runs on others', async () => {
  await using fresh = await testDatabase();
  await using upgrade = await upgradeOf('select 1');
  const service = new pg.Client({ connectionString: upgrade.url, application_name: 'croft bank outbox' });
  await service.connect();
  const database = openDatabase({ url: fresh.url, schema: 'bank', log: silentLog });
  expect(await migrate(database, migrations, { unlessRunning: true })).toEqual([
    '0000_outbox',
    '0001_outbox-lanes',
    '0001_accounts',
  ]);
  await database.close();
  await service.end();
});

it('tells migrations what the settings say, for as long as they are applied', async () => {
  await using upgrade = await upgradeOf(
    `create table :schema.later as select current_setting('croft.lifetime', true) as lifetime`,
  );
  const { database, later } = upgrade;
  await migrate(database, later, { values: { lifetime: '3600' } });
  const rows = database.autocommit();
  expect(await rows.row`select lifetime from :schema.later`).toEqual({ lifetime: '3600' });
  expect(await rows.row`select nullif(current_setting('croft.lifetime', true), '') as now`).toEqual({
    now: null,
  });
});

it('as a user who may make no schema says what to do, and uses one that is there', async () => {
  await using home = await testDatabase({ schema: 'bank', migrations });
  const admin = openDatabase({ url: home.url, schema: 'bank', log: silentLog, poolSize: 1 });
  const user = `plain_${randomUUID().replaceAll('-', '')}`;
  const url = Object.assign(new URL(home.url), { username: user, password: 'plain' }).href;
  await admin.autocommit().script(`create role ${user} login password 'plain'`);
  const mine = openDatabase({ url, schema: 'mine', log: silentLog, poolSize: 1 });
  try {
    await expect(migrate(mine, migrations)).rejects.toMatchObject({
      name: 'StartError',
      message: expect.stringMatching(
        /may not make the schema "mine".*grant create on database.*alter schema "mine" owner/,
      ),
    });
    await admin.autocommit().script(`create schema mine`);
    await expect(migrate(mine, migrations)).rejects.toThrow(/may not make/);
    await admin.autocommit().script(`alter schema mine owner to ${user}`);
    expect((await migrate(mine, migrations)).length).toBeGreaterThan(0);
    expect(await migrate(mine, migrations)).toEqual([]);
  } finally {
    await mine.close();
    await admin.autocommit().script(`drop schema mine cascade; drop role ${user}`);
    await admin.close();
  }
});
