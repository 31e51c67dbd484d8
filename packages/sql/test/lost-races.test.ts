import { silentLog } from '@croft/runtime';
import { type TestDatabase, testDatabase } from '@croft/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../src/index.ts';

const migrations = new URL('./migrations/', import.meta.url);
let home: TestDatabase;
let database: Database;

beforeAll(async () => {
  home = await testDatabase({ schema: 'bank', migrations });
  database = openDatabase({ url: home.url, schema: 'bank', log: silentLog, poolSize: 4 });
});
beforeEach(async () => {
  await database.autocommit().run`truncate :schema.accounts`;
  await database.autocommit().run`insert into :schema.accounts (name, balance) values ('a', 0), ('b', 0)`;
});
afterAll(async () => {
  await database.close();
  await home[Symbol.asyncDispose]();
});

const balances = async () =>
  (
    await database.autocommit().rows<{ balance: number }>`select balance from :schema.accounts order by name`
  ).map(({ balance }) => balance);

describe('a unit of work that met another in a circle', () => {
  it('is done once more, from its beginning: both count, once', async () => {
    let attempts = 0;
    const bothHoldOne = Promise.withResolvers<void>();
    const cross = (first: string, second: string) =>
      database.transaction(async (tx) => {
        await tx.run`update :schema.accounts set balance = balance + 1 where name = ${first}`;
        attempts += 1;
        if (attempts === 2) bothHoldOne.resolve();
        await bothHoldOne.promise;
        await tx.run`update :schema.accounts set balance = balance + 1 where name = ${second}`;
      });
    await Promise.all([cross('a', 'b'), cross('b', 'a')]);
    expect(attempts).toBe(3);
    expect(await balances()).toEqual([2, 2]);
  });

  it('likewise a statement by itself', async () => {
    const held = Promise.withResolvers<void>();
    const holder = database.transaction(async (tx) => {
      await tx.run`update :schema.accounts set balance = balance + 1 where name = 'b'`;
      held.resolve();
      // Until the statement below waits for b, holding a.
      for (;;) {
        const waits = await tx.row`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        if (waits !== undefined) break;
      }
      await tx.run`set local deadlock_timeout = '10s'`;
      await tx.run`update :schema.accounts set balance = balance + 1 where name = 'a'`;
    });
    await held.promise;
    await database.autocommit().run`
      with locked as materialized (select name from :schema.accounts order by name for update)
      update :schema.accounts set balance = balance + 1 where name in (select name from locked)`;
    await holder;
    expect(await balances()).toEqual([2, 2]);
  });

  it('is refused when that happens again, and what failed for another reason is not repeated', async () => {
    let attempts = 0;
    const giveUp = (code: string) =>
      database.transaction(async (tx) => {
        attempts += 1;
        await tx.run`update :schema.accounts set balance = 9`;
        await tx.script(`do $$ begin raise exception 'given up' using errcode = '${code}'; end $$`);
      });
    await expect(giveUp('40001')).rejects.toMatchObject({ code: '40001' });
    expect(attempts).toBe(2);
    await expect(giveUp('23505')).rejects.toMatchObject({ code: '23505' });
    expect(attempts).toBe(3);
    expect(await balances()).toEqual([0, 0]);
  });
});
