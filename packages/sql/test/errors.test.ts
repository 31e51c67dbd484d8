import { silentLog } from '@croft/runtime';
import { type TestDatabase, testDatabase } from '@croft/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type Database,
  isDatabaseUnavailable,
  isUniqueViolation,
  openDatabase,
  type Tx,
} from '../src/index.ts';

let home: TestDatabase;
let database: Database;

beforeAll(async () => {
  home = await testDatabase({ schema: 'bank', migrations: new URL('./migrations/', import.meta.url) });
  database = openDatabase({ url: home.url, schema: 'bank', log: silentLog, poolSize: 1 });
});
afterAll(async () => {
  await database.close();
  await home[Symbol.asyncDispose]();
});

it('recognises a duplicate by its constraint', async () => {
  const open = () => database.autocommit().run`insert into :schema.accounts (name, balance) values ('a', 1)`;
  await open();
  const error = await open().catch((reason: unknown) => reason);
  expect(isUniqueViolation(error)).toBe(true);
  expect(isUniqueViolation(error, 'accounts_name_key')).toBe(true);
  expect(isUniqueViolation(error, 'another')).toBe(false);
});

it.each(['ENOENT', 'EPIPE', 'ECONNRESET', 'ENOTFOUND', 'ETIMEDOUT', 'ECONNREFUSED'])(
  'knows errors of others, which do not say that the database is away: %s',
  async (code) => {
    const backend = (tx: Tx) => tx.row`select pg_backend_pid() as id`;
    const before = await backend(database.autocommit());
    const reason = Object.assign(new Error(code), { code });
    const failed = database.transaction(async (tx) => {
      await backend(tx);
      throw reason;
    });
    await expect(failed).rejects.toBe(reason);
    expect(isDatabaseUnavailable(reason)).toBe(false);
    // Nor is its connection given up.
    expect(await backend(database.autocommit())).toEqual(before);
  },
);
