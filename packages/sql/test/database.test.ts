import { setTimeout as sleep } from 'node:timers/promises';
import { assertOutsideTransaction, silentLog, withinTime } from '@croft/runtime';
import { fixedClock, type TestDatabase, testDatabase } from '@croft/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Database, fragment, isDatabaseUnavailable, openDatabase, type Tx } from '../src/index.ts';

const migrations = new URL('./migrations/', import.meta.url);
const clock = fixedClock();
let home: TestDatabase;
let database: Database;

beforeAll(async () => {
  home = await testDatabase({ schema: 'bank', migrations });
  database = openDatabase({ url: home.url, schema: 'bank', log: silentLog, clock, poolSize: 4 });
});
beforeEach(() => database.autocommit().run`truncate :schema.accounts`);
afterAll(async () => {
  await database.close();
  await home[Symbol.asyncDispose]();
});

const open = (name: string, balance: number) =>
  database.autocommit().run`insert into :schema.accounts (name, balance) values (${name}, ${balance})`;
const names = async () =>
  (await database.autocommit().rows<{ name: string }>`select name from :schema.accounts order by name`).map(
    ({ name }) => name,
  );

describe('work whose time is over', () => {
  it('begins no statement and commits nothing', async () => {
    const limit = { over: false };
    await withinTime(limit, async () => {
      const late = database.transaction(async (tx) => {
        await tx.run`insert into :schema.accounts (name, balance) values ('late', 1)`;
        limit.over = true;
      });
      await expect(late).rejects.toThrow('the time for this request is over');
      await expect(open('later', 1)).rejects.toThrow('is over');
    });
    expect(await names()).toEqual([]);
  });

  it('begins nothing when it waited too long for a connection', async () => {
    const single = openDatabase({ url: home.url, schema: 'bank', log: silentLog, poolSize: 1 });
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const { promise: taken, resolve: took } = Promise.withResolvers<void>();
    const other = single.transaction(async (tx) => {
      await tx.row`select 1`;
      took();
      await held;
    });
    await taken;
    const before = single.roundTrips;
    const limit = { over: false };
    const late = withinTime(limit, () => [
      single.autocommit().run`insert into :schema.accounts (name, balance) values ('late', 1)`,
      single.autocommit().script(`insert into bank.accounts (name, balance) values ('late', 1)`),
      single.transaction((tx) => tx.run`insert into :schema.accounts (name, balance) values ('late', 1)`),
    ]);
    const outcomes = Promise.allSettled<unknown>(late);
    limit.over = true;
    release();
    await other;
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ reason: { message: 'the time for this request is over' } });
    }
    // The commit of the other, and nothing of these; the connection is free again.
    expect(single.roundTrips - before).toBe(1);
    expect(await names()).toEqual([]);
    expect(await single.autocommit().row`select 1 as one`).toEqual({ one: 1 });
    await single.close();
  });

  it('is ended by the server when a statement takes longer than it may', async () => {
    const hasty = openDatabase({ url: home.url, schema: 'bank', log: silentLog, statementTimeoutMs: 100 });
    await expect(hasty.autocommit().row`select pg_sleep(5)`).rejects.toMatchObject({ code: '57014' });
    await hasty.close();
  });
});

describe('statements', () => {
  it('carry values apart from the text, so that a value cannot become SQL', async () => {
    const evil = `x'); drop table bank.accounts; --`;
    await open(evil, 1);
    expect(
      await database.autocommit().row`select balance from :schema.accounts where name = ${evil}`,
    ).toEqual({ balance: 1 });
  });

  it('read bigint as number and timestamps as Date', async () => {
    const row = await database.autocommit()
      .row`select 9007199254740991::bigint as big, ${clock.now()}::timestamptz as at`;
    expect(row).toEqual({ big: Number.MAX_SAFE_INTEGER, at: clock.now() });
  });

  it('tell how many rows changed, and answer undefined for no row', async () => {
    await open('a', 1);
    expect(await database.autocommit().run`update :schema.accounts set balance = 2`).toBe(1);
    expect(
      await database.autocommit().row`select 1 from :schema.accounts where name = 'nobody'`,
    ).toBeUndefined();
  });

  it('stay prepared on the connection under one name each', async () => {
    const single = openDatabase({ url: home.url, schema: 'bank', log: silentLog, poolSize: 1 });
    for (let i = 0; i < 3; i++) await single.autocommit().row`select ${i}::int as i`;
    const prepared = await single.autocommit().rows<{
      statement: string;
    }>`select statement from pg_prepared_statements`;
    expect(prepared.filter(({ statement }) => statement === 'select $1::int as i')).toHaveLength(1);
    await single.close();
  });

  it('that are refused leave their connection as it is; one that was lost is replaced', async () => {
    const single = openDatabase({ url: home.url, schema: 'bank', log: silentLog, poolSize: 1 });
    const backend = async () =>
      (await single.autocommit().row<{ id: number }>`select pg_backend_pid() as id`)?.id;
    const first = await backend();
    await expect(single.autocommit().row`select 1 / 0`).rejects.toMatchObject({
      code: '22012',
      stack: expect.stringContaining('database.test.ts') as string,
    });
    expect(await backend()).toBe(first);
    await expect(
      single.autocommit().row`select pg_terminate_backend(pg_backend_pid()), pg_sleep(5)`,
    ).rejects.toThrow();
    expect(await backend()).not.toBe(first);
    await single.close();
  });

  it('stay unnamed with prepare: false, as pgbouncer needs it', async () => {
    const plain = openDatabase({
      url: home.url,
      schema: 'bank',
      log: silentLog,
      poolSize: 1,
      prepare: false,
    });
    expect(await plain.autocommit().rows`select ${'x'}::text as x`).toEqual([{ x: 'x' }]);
    expect(await plain.autocommit().rows`select name from pg_prepared_statements`).toEqual([]);
    await plain.close();
  });
});

describe('transaction', () => {
  it('commits what it returns from, with one timestamp', async () => {
    const now = await database.transaction(async (tx) => {
      await tx.run`insert into :schema.accounts (name, balance) values ('a', 1)`;
      return tx.now;
    });
    expect(now).toEqual(clock.now());
    expect(await names()).toEqual(['a']);
  });

  it('rolls back what it throws from and gives the connection back', async () => {
    for (let i = 0; i < 8; i++) {
      await expect(
        database.transaction(async (tx) => {
          await tx.run`insert into :schema.accounts (name, balance) values (${`n${i}`}, 1)`;
          throw new Error('changed my mind');
        }),
      ).rejects.toThrow('changed my mind');
    }
    expect(await names()).toEqual([]);
  });

  it('survives a connection that is killed in its middle', async () => {
    await expect(
      database.transaction(async (tx) => {
        await tx.run`select pg_terminate_backend(pg_backend_pid())`;
      }),
    ).rejects.toThrow('terminat');
    await open('after', 1);
    expect(await names()).toEqual(['after']);
  });

  it('tells each statement after the loss of its connection that the database is away', async () => {
    const told: Error[] = [];
    const lost = database.transaction(async (tx) => {
      await tx.run`insert into :schema.accounts (name, balance) values ('lost', 1)`;
      await tx.run`select pg_terminate_backend(pg_backend_pid())`.catch(() => {});
      // The server has said goodbye; that it hung up is known a moment later, and from then on.
      while (!told.at(-1)?.message.includes('not queryable')) {
        await tx.run`select 1`.catch((error: Error) => told.push(error));
      }
      throw told.at(-1) as Error;
    });
    await expect(lost).rejects.toThrow('not queryable');
    expect(told.map(isDatabaseUnavailable)).toEqual(told.map(() => true));
    expect(await names()).toEqual([]);
  });

  it.each<[string, (one: Database) => Promise<unknown>]>([
    [
      'a statement',
      (one) => one.autocommit().run`insert into :schema.accounts (name, balance) values ('a', 1)`,
    ],
    [
      'a transaction',
      (one) => one.transaction((tx) => tx.run`insert into :schema.accounts (name, balance) values ('a', 1)`),
    ],
  ])('does not keep a connection to a server that only follows another: %s', async (_what, write) => {
    const one = openDatabase({ url: home.url, schema: 'bank', log: silentLog, poolSize: 1 });
    try {
      // What a standby says to everybody.
      await one.autocommit().script('set default_transaction_read_only = on');
      const error = await write(one).catch((reason: unknown) => reason);
      expect(isDatabaseUnavailable(error)).toBe(true);
      expect(await names()).toEqual([]);
      await write(one);
      expect(await names()).toEqual(['a']);
    } finally {
      await one.close();
    }
  });

  it('fails when a statement in it failed and nobody noticed', async () => {
    await expect(
      database.transaction(async (tx) => {
        await tx.run`insert into :schema.accounts (name, balance) values ('a', 1)`;
        await tx.run`select 1 / 0`.catch(() => {});
      }),
    ).rejects.toThrow('rolled back');
    expect(await names()).toEqual([]);
  });

  it('refuses statements of other connections and transactions inside it', async () => {
    await expect(database.transaction(() => database.autocommit().run`select 1`)).rejects.toThrow(
      'another connection',
    );
    await expect(database.transaction(() => database.transaction((tx) => tx.run`select 1`))).rejects.toThrow(
      'another transaction',
    );
  });

  it.each(['commits', 'rolls back'])('refuses what is still to be done in it when it %s', async (end) => {
    const { promise: kept, resolve: keep } = Promise.withResolvers<Tx>();
    const ended = database.transaction(async (tx) => {
      await tx.row`select 1`;
      keep(tx);
      if (end === 'rolls back') throw new Error('refused');
    });
    await ended.catch(() => {});
    const late = (await kept).run`insert into :schema.accounts (name, balance) values ('outside', 1)`;
    await expect(late).rejects.toThrow('its transaction has ended');
    expect(await names()).toEqual([]);
  });

  it('costs begin and commit besides its statements', async () => {
    const before = database.roundTrips;
    await database.transaction((tx) => tx.run`select 1`);
    expect(database.roundTrips - before).toBe(3);
    await database.autocommit().run`select 1`;
    expect(database.roundTrips - before).toBe(4);
  });

  it('refuses whatever leaves the process inside it', async () => {
    await expect(
      database.transaction(async (tx) => {
        await tx.run`insert into :schema.accounts (name, balance) values ('mailed', 1)`;
        assertOutsideTransaction('sending mail');
      }),
    ).rejects.toThrow('sending mail inside a database transaction');
    expect(await names()).toEqual([]);
    expect(() => assertOutsideTransaction('sending mail')).not.toThrow();
  });
});

it('waits for the clock of the test, not of the machine', async () => {
  const before = database.autocommit().now;
  await sleep(5);
  expect(database.autocommit().now).toEqual(before);
});

describe('reads', () => {
  it('share two connections, many at a time, each with its own answer', async () => {
    const numbers = Array.from({ length: 200 }, (_, number) => number);
    const rows = await Promise.all(
      numbers.map(
        (number) => database.reads().row<{ number: number }>`
        select ${number}::int as number, pg_sleep(0.001)`,
      ),
    );
    expect(rows.map((row) => row?.number)).toEqual(numbers);
    const backends = await Promise.all(
      numbers.map(() => database.reads().row<{ pid: number }>`select pg_backend_pid() as pid`),
    );
    expect(new Set(backends.map((row) => row?.pid)).size).toBe(2);
  });

  it('are planned once a connection, whatever their values are', async () => {
    const twice = (ask: () => Promise<unknown>) => Promise.all([ask(), ask()]);
    for (const wanted of [['Ada'], ['Ada', 'Bob'], ['Eve']])
      await twice(
        () => database.reads().row`
        select from :schema.accounts where name = any(${wanted}::text[])`,
      );
    const plans = await twice(
      () => database.reads().row`
      select custom_plans, generic_plans from pg_prepared_statements where statement like '%from %accounts where name%'
        and statement not like '%pg_prepared%'`,
    );
    expect(plans).toEqual(Array(2).fill({ custom_plans: 0, generic_plans: 3 }));
  });

  it('leave those beside them alone when they fail', async () => {
    const [good, bad, after] = await Promise.allSettled([
      database.reads().row<{ n: number }>`select 1 as n`,
      database.reads().row`select 1 / ${0}::int`,
      database.reads().row<{ n: number }>`select 2 as n`,
    ]);
    expect([good, after]).toEqual([
      { status: 'fulfilled', value: { n: 1 } },
      { status: 'fulfilled', value: { n: 2 } },
    ]);
    expect(bad.status).toBe('rejected');
  });

  it('change nothing', async () => {
    const write = database.reads().row`
      insert into :schema.accounts (name, balance) values ('sneaky', 1) returning name`;
    await expect(write).rejects.toThrow(/read-only transaction/);
    expect(await names()).toEqual([]);
  });

  it('find another connection when theirs is lost; what was under way is told that the database is away', async () => {
    const sleeping = Promise.allSettled([
      database.reads().row`select pg_sleep(30)`,
      database.reads().row`select pg_sleep(30)`,
    ]);
    await sleep(100);
    await database.autocommit().row`
      select pg_terminate_backend(pid) from pg_stat_activity where query like 'select pg_sleep(30)%' and pid <> pg_backend_pid() and datname = current_database()`;
    for (const outcome of await sleeping) {
      expect(outcome.status).toBe('rejected');
      expect(isDatabaseUnavailable((outcome as PromiseRejectedResult).reason)).toBe(true);
    }
    expect(await database.reads().row`select 1 as n`).toEqual({ n: 1 });
  });

  it('begin nothing when the time is over', async () => {
    const before = database.roundTrips;
    await withinTime({ over: true }, () => expect(database.reads().row`select 1`).rejects.toThrow('is over'));
    expect(database.roundTrips).toBe(before);
  });
});

describe('an address', () => {
  it('does not take the name away by which a running service is known, nor what is asked of a connection', async () => {
    const url = new URL(home.url);
    url.searchParams.set('application_name', 'mine');
    url.searchParams.set('options', '-c work_mem=5MB');
    const own = openDatabase({ url: url.href, schema: 'bank', log: silentLog, poolSize: 1 });
    for (const tx of [own.autocommit(), own.reads()]) {
      const row =
        await tx.row`select current_setting('application_name') as name, current_setting('work_mem') as memory`;
      expect(row).toEqual({ name: 'croft bank', memory: '5MB' });
    }
    await expect(own.reads().row`truncate :schema.accounts`).rejects.toThrow('read-only');
    await own.close();
  });

  it.each(['postgresql://nowhere.invalid/croft', 'postgresql://127.0.0.1:1/croft'])(
    'that leads nowhere is told as unavailable: %s',
    async (url) => {
      const none = openDatabase({ url, schema: 'bank', log: silentLog });
      const error = await none.autocommit().row`select 1`.catch((reason: unknown) => reason);
      expect(isDatabaseUnavailable(error)).toBe(true);
      await none.close();
    },
  );
});

describe('fragments', () => {
  const richer = (than: number) => fragment`balance > ${than} and balance < ${than + 1_000}`;
  const found = (wanted: unknown) =>
    database.autocommit().rows<{ name: string }>`
      select name from :schema.accounts where name <> ${'nobody'} and ${wanted} and balance <> ${-1} order by name`;

  beforeEach(async () => {
    await open('Ada', 50);
    await open('Bob', 500);
    await open('Eve', 5_000);
  });

  it('bring their text and their values, in other fragments as well', async () => {
    expect(await found(richer(100))).toEqual([{ name: 'Bob' }]);
    expect(await found(fragment`(${richer(100)} or ${richer(4_500)})`)).toEqual([
      { name: 'Bob' },
      { name: 'Eve' },
    ]);
    // A value at the same place is one.
    expect(await found(false)).toEqual([]);
    const schema = await database.autocommit().rows`select ${fragment`count(*) from :schema.accounts`}`;
    expect(schema).toEqual([{ count: 3 }]);
  });

  it('are prepared once for each text', async () => {
    const single = openDatabase({ url: home.url, schema: 'bank', log: silentLog, poolSize: 1 });
    const rich = (than: number, which: 'many' | 'few') =>
      single.autocommit().rows`select name from :schema.accounts
        where ${which === 'many' ? richer(than) : fragment`balance = ${than}`}`;
    await rich(1, 'many');
    await rich(2, 'many');
    await rich(50, 'few');
    const prepared = await single.autocommit().rows<{ statement: string }>`
      select statement from pg_prepared_statements where statement like 'select name from%' order by 1`;
    await single.close();
    expect(prepared.map(({ statement }) => statement.replaceAll(/\s+/g, ' '))).toEqual([
      'select name from "bank".accounts where balance = $1',
      'select name from "bank".accounts where balance > $1 and balance < $2',
    ]);
  });

  it.each([
    'true or true',
    { strings: ['true'], values: [] },
    JSON.parse('{"#strings":["true"],"#values":[]}'),
    Object.assign(['true'], { raw: ['true'] }),
  ])('are made by code alone: %j is a value', async (forged) => {
    await expect(found(forged)).rejects.toThrow();
    expect(await names()).toEqual(['Ada', 'Bob', 'Eve']);
  });
});
