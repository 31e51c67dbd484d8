import { setTimeout as sleep } from 'node:timers/promises';
import type { Failure } from '@croft/failure';
import { silentLog } from '@croft/runtime';
import { readSettings } from '@croft/settings';
import { type Database, openDatabase } from '@croft/sql';
import { type FixedClock, fixedClock, testDatabase } from '@croft/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Limits, longestRefillMs, openLimits } from '../src/limits/limits.ts';
import { migrations } from '../src/open-context.ts';
import { type AuthSettings, authSettings } from '../src/settings.ts';
import * as rateLimits from '../src/store/rate-limits.ts';
import * as sendLimits from '../src/store/send-limits.ts';

// The limits by themselves; what requests see of them is in client-limits.test.ts.

const HOUR_MS = 3_600_000;

let server: Awaited<ReturnType<typeof testDatabase>>;
let clock: FixedClock;
const databases: Database[] = [];
beforeAll(async () => {
  server = await testDatabase({ schema: 'auth', migrations });
});
beforeEach(() => {
  clock = fixedClock();
});
afterEach(async () => {
  for (const database of databases) await database.autocommit().script('delete from auth.rate_limits');
  await Promise.all(databases.splice(0).map((database) => database.close()));
});
afterAll(() => server[Symbol.asyncDispose]());

function settingsFor(environment: Record<string, string> = {}): AuthSettings {
  return readSettings(authSettings, {
    AUTHSVC_SITE_URL: 'https://site.example',
    AUTHSVC_API_EXTERNAL_URL: 'https://auth.example',
    AUTHSVC_JWT_SECRET: 'a-secret-of-the-tests-that-nobody-else-has',
    ...environment,
  });
}
function open(environment: Record<string, string> = {}, url = server.url): Limits & { database: Database } {
  const database = openDatabase({ url, schema: 'auth', log: silentLog, clock, poolSize: 4 });
  databases.push(database);
  return { ...openLimits(settingsFor(environment), database, clock), database };
}
/** 0 when the request was let through, else the seconds it shall wait. */
async function ask(limits: Limits, client: string | null, bucket: 'token' | 'otp' | 'anonymous' = 'otp') {
  return await limits.take(bucket, client).then(
    () => 0,
    (failure: Failure) => {
      if (failure.code !== 'over_request_rate_limit') throw failure;
      return failure.retryAfterSeconds;
    },
  );
}
const times = <T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));
const passed = (answers: readonly unknown[]) => answers.filter((answer) => answer === 0).length;
/** Waits until the database knows all that was taken. */
async function settle(processes: readonly Limits[]): Promise<void> {
  for (const one of processes) await one.close?.();
}
/** Asks one after the other, everything settled between them. */
async function askInTurn(limits: Limits, count: number, client: string): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (let n = 0; n < count; n++) {
    answers.push(await ask(limits, client));
    await limits.close?.();
  }
  return answers;
}

describe.each(['memory', 'postgres'])('kept in %s', (store) => {
  const environment = { AUTHSVC_RATE_LIMIT_STORE: store };

  test('30 at once, then one in ten seconds', async () => {
    const limits = open(environment);
    expect(passed(await askInTurn(limits, 30, 'a'))).toBe(30);
    expect(await ask(limits, 'a')).toBe(10);
    clock.advance(4000);
    expect(await ask(limits, 'a')).toBe(6);
    clock.advance(6000);
    expect(await ask(limits, 'a')).toBe(0);
    await limits.close?.();
    expect(await ask(limits, 'a')).toBe(10);
  });

  test('who waited as long as he was told is let through, however often he asked before', async () => {
    const limits = open(environment);
    await askInTurn(limits, 30, 'a');
    for (let round = 0; round < 5; round++) {
      const wait = await ask(limits, 'a');
      await times(20, () => ask(limits, 'a'));
      clock.advance(Number(wait) * 1000);
      expect(await ask(limits, 'a')).toBe(0);
      await limits.close?.();
    }
  });

  test('64 at once: 30', async () => {
    const limits = open(environment);
    expect(passed(await times(64, () => ask(limits, 'a')))).toBe(30);
  });

  test('clients, and what they ask for, are limited by themselves', async () => {
    const limits = open(environment);
    await times(64, () => ask(limits, 'a'));
    expect(await ask(limits, 'b')).toBe(0);
    expect(await ask(limits, null)).toBe(0);
    expect(await ask(limits, 'a', 'token')).toBe(0);
    expect(passed(await times(64, () => ask(limits, null)))).toBe(29);
  });

  test('by the settings', async () => {
    const limits = open({
      ...environment,
      AUTHSVC_RATE_LIMIT_OTP: '2',
      AUTHSVC_RATE_LIMIT_ANONYMOUS_USERS: '40',
      AUTHSVC_RATE_LIMIT_TOKEN_REFRESH: '0',
    });
    expect(passed(await times(50, () => ask(limits, 'a')))).toBe(2);
    expect(await ask(limits, 'a')).toBe(150);
    expect(passed(await times(50, () => ask(limits, 'a', 'anonymous')))).toBe(40);
    expect(await ask(limits, 'a', 'anonymous')).toBe(90);
    expect(await ask(limits, 'a', 'token')).toBe(3600);
  });

  test('an idle client has no more than its burst', async () => {
    const limits = open(environment);
    await times(64, () => ask(limits, 'a'));
    clock.advance(24 * HOUR_MS);
    expect(passed(await times(64, () => ask(limits, 'a')))).toBe(30);
  });

  test('a clock that goes back neither opens nor closes them', async () => {
    const limits = open(environment);
    await times(64, () => ask(limits, 'a'));
    clock.advance(-HOUR_MS);
    expect(await ask(limits, 'a')).toBeGreaterThan(0);
    clock.advance(HOUR_MS + 10_000);
    expect(passed(await times(5, () => ask(limits, 'a')))).toBe(1);
  });

  describe('mails and messages of the whole service', () => {
    test.each([
      ['30', 30, 120],
      ['100/24h', 100, 864],
      ['2/1m', 2, 30],
      ['2.5', 2, 720],
      ['0.5', 1, 7200],
    ])('%s: %i, then one in %i seconds', async (rate, count, seconds) => {
      const limits = open({ ...environment, AUTHSVC_RATE_LIMIT_EMAIL_SENT: rate });
      const answers = await times(count + 20, () => limits.takeHourly('mail'));
      expect(passed(answers)).toBe(count);
      await limits.close?.();
      clock.advance(seconds * 1000);
      expect(await limits.takeHourly('mail')).toBe(0);
      await limits.close?.();
      expect(await limits.takeHourly('sms')).toBe(0);
    });

    test('0 permits none, and says so in an hour', async () => {
      const limits = open({ ...environment, AUTHSVC_RATE_LIMIT_SMS_SENT: '0' });
      expect(await limits.takeHourly('sms')).toBe(3600);
      expect(await limits.takeHourly('mail')).toBe(0);
    });

    test('what was not sent is given back', async () => {
      const limits = open({ ...environment, AUTHSVC_RATE_LIMIT_EMAIL_SENT: '2' });
      for (let n = 0; n < 20; n++) {
        expect(await limits.takeHourly('mail')).toBe(0);
        limits.giveBackHourly('mail');
        await limits.close?.();
      }
      for (let n = 0; n < 10; n++) limits.giveBackHourly('mail');
      await limits.close?.();
      expect(passed(await times(10, () => limits.takeHourly('mail')))).toBe(2);
    });
  });

  test('attack: a flood of clients does not reset the service’s own limits', {
    timeout: 150_000,
  }, async () => {
    const limits = open({ ...environment, AUTHSVC_RATE_LIMIT_EMAIL_SENT: '1' });
    await limits.takeHourly('mail');
    await limits.close?.();
    await times(store === 'memory' ? 60_000 : 2_000, (index) => ask(limits, `client ${index}`));
    expect(await limits.takeHourly('mail')).toBeGreaterThan(0);
    await limits.close?.();
  });

  test('switched off, nothing is counted', async () => {
    const limits = open({
      ...environment,
      AUTHSVC_RATE_LIMIT_ENABLED: 'false',
      AUTHSVC_RATE_LIMIT_EMAIL_SENT: '0',
    });
    expect(passed(await times(200, () => ask(limits, 'a')))).toBe(200);
    expect(await limits.takeHourly('mail')).toBe(0);
    limits.giveBackHourly('mail');
    expect(limits.database.roundTrips).toBe(0);
  });
});

describe('several processes', () => {
  const environment = { AUTHSVC_RATE_LIMIT_STORE: 'postgres' };

  test('64 at once over two: the limit and one request a process, no more', async () => {
    for (let round = 0; round < 10; round++) {
      const processes = [open(environment), open(environment)] as const;
      const answers = await times(64, (index) => ask(processes[index % 2] as Limits, `client ${round}`));
      expect(passed(answers)).toBeGreaterThanOrEqual(30);
      expect(passed(answers)).toBeLessThanOrEqual(32);
      await settle(processes);
      // What went through on credit is charged: the bucket lacks it.
      const left = await processes[0].database.autocommit().row`
        delete from :schema.rate_limits returning tokens`;
      expect(left).toEqual({ tokens: 30 - passed(answers) });
    }
  });

  test('over a long time no more than the rate, whatever the number of processes', async () => {
    const processes = [open(environment), open(environment), open(environment)];
    let through = 0;
    for (let second = 0; second < 600; second++) {
      const one = processes[second % 3] as Limits;
      through += passed([await ask(one, 'a')]);
      if (second % 5 === 0) await settle(processes);
      clock.advance(1000);
    }
    // 30 at first, 60 in ten minutes, and one on credit for each.
    expect(through).toBeLessThanOrEqual(30 + 60 + 3);
    expect(through).toBeGreaterThanOrEqual(30 + 60 - 3);
  });

  test('a process that starts later finds the buckets as they are', async () => {
    const first = open(environment);
    await times(64, () => ask(first, 'a'));
    await first.close?.();
    const second = open(environment);
    // It cannot know yet, so one goes through.
    expect(passed(await askInTurn(second, 5, 'a'))).toBe(1);
  });

  test('many clients in many processes at once never wait for each other for good', async () => {
    const processes = await times(4, async () => open(environment));
    const answers = await times(4000, (index) =>
      ask(processes[index % 4] as Limits, `client ${(index * 7919) % 50}`),
    );
    // 80 for each of 50 clients, of which 30 and one on credit for each process go through.
    expect(passed(answers)).toBeGreaterThanOrEqual(50 * 30);
    expect(passed(answers)).toBeLessThanOrEqual(50 * 34);
    // Every one of them is accounted for: no statement overwrote what another process took.
    await settle(processes);
    const { database } = processes[0] as (typeof processes)[number];
    const left = await database.autocommit().row`
      select sum(tokens) as tokens from :schema.rate_limits`;
    expect(left).toEqual({ tokens: 50 * 30 - passed(answers) });
  });

  test('a clock that is ahead gives nothing twice', async () => {
    const one = open(environment);
    await times(64, () => ask(one, 'a'));
    await one.close?.();
    const here = clock;
    clock = fixedClock();
    clock.advance(20_000);
    const ahead = open(environment);
    expect(passed(await askInTurn(ahead, 10, 'a'))).toBe(2);
    here.advance(20_000);
    expect(passed(await askInTurn(one, 10, 'a'))).toBeLessThanOrEqual(1);
  });
});

describe('the database', () => {
  const environment = { AUTHSVC_RATE_LIMIT_STORE: 'postgres' };
  const roundTrips = async (limits: ReturnType<typeof open>, work: () => Promise<unknown>) => {
    const before = limits.database.roundTrips;
    await work();
    const waited = limits.database.roundTrips - before;
    await limits.close?.();
    return { waited, behind: limits.database.roundTrips - before };
  };

  test('no request of a client waits for it, unless there are several at once', async () => {
    const limits = open(environment);
    // A bucket that is new is looked for and made.
    expect(await roundTrips(limits, () => ask(limits, 'a'))).toEqual({ waited: 0, behind: 2 });
    expect(await roundTrips(limits, () => ask(limits, 'a'))).toEqual({ waited: 0, behind: 1 });
  });

  test('refused requests do not reach it', async () => {
    const limits = open(environment);
    await times(64, () => ask(limits, 'a'));
    await limits.close?.();
    expect(await roundTrips(limits, () => times(1000, () => ask(limits, 'a')))).toEqual({
      waited: 0,
      behind: 0,
    });
  });

  test('hundreds of clients are asked for at once', async () => {
    const limits = open(environment);
    const { behind } = await roundTrips(limits, () => times(500, (index) => ask(limits, `client ${index}`)));
    expect(behind).toBeLessThanOrEqual(4);
  });

  test('away: one goes through on credit, the rest hear of it, and nothing is forgotten', async () => {
    const limits = open({ ...environment, AUTHSVC_RATE_LIMIT_OTP: '2' });
    await limits.database.autocommit().script('alter table auth.rate_limits rename to elsewhere');
    try {
      expect(await ask(limits, 'a')).toBe(0);
      await limits.close?.();
      for (let n = 0; n < 3; n++) await expect(ask(limits, 'a')).rejects.toThrow('does not exist');
    } finally {
      await limits.database.autocommit().script('alter table auth.elsewhere rename to rate_limits');
    }
    // The one from before counts.
    expect(passed(await askInTurn(limits, 5, 'a'))).toBe(1);
  });

  test('attack: a flood of clients while it does not answer fills no memory', {
    timeout: 150_000,
  }, async () => {
    const limits = open(environment);
    const other = open();
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const lock = other.database.transaction(async (tx) => {
      await tx.run`lock table :schema.rate_limits in access exclusive mode`;
      await held;
    });
    await sleep(50);
    const answers: unknown[] = [];
    for (let index = 0; index < 51_000; index++) answers.push(await ask(limits, `client ${index}`));
    // Those under way and 50,000 more are kept in mind, the rest is asked to come back.
    expect(passed(answers)).toBeGreaterThanOrEqual(50_000);
    expect(passed(answers)).toBeLessThanOrEqual(50_500);
    expect(answers.at(-1)).toBe(1);
    release();
    await lock;
    await limits.close?.();
    const made = await limits.database.autocommit().row`select count(*) as made from :schema.rate_limits`;
    expect(made).toEqual({ made: passed(answers) });
  });

  test('holds no address in clear', async () => {
    const limits = open(environment);
    await ask(limits, '198.51.100.7');
    await limits.close?.();
    const rows = await limits.database.autocommit().rows<{ key: Buffer }>`
      select key from :schema.rate_limits`;
    expect(rows).toHaveLength(1);
    expect(rows[0]?.key.length).toBe(32);
    expect(rows[0]?.key.toString('latin1')).not.toContain('198.51');
  });
});

test('however many sessions are refreshed, no client is forgotten', async () => {
  const limits = open();
  while ((await ask(limits, '198.51.100.7', 'token')) === 0);
  for (let index = 0; index < 51_000; index++) await limits.take('refresh', `session ${index}`);
  expect(await ask(limits, '198.51.100.7', 'token')).toBeGreaterThan(0);
});

describe('clean-up', () => {
  test('deletes buckets that are full again, and no others, some at a time', async () => {
    const limits = open({ AUTHSVC_RATE_LIMIT_STORE: 'postgres' });
    const tx = () => limits.database.autocommit();
    const idleMs = longestRefillMs(settingsFor());
    expect(idleMs).toBe(HOUR_MS);
    await times(5, (index) => ask(limits, `old ${index}`));
    await limits.close?.();
    clock.advance(idleMs + 1);
    await ask(limits, 'new');
    await limits.close?.();
    const before = new Date(clock.now().getTime() - idleMs);
    expect(await rateLimits.deleteIdle(tx(), before, 3)).toBe(3);
    expect(await rateLimits.deleteIdle(tx(), before, 3)).toBe(2);
    expect(await rateLimits.deleteIdle(tx(), before, 3)).toBe(0);
    expect(await tx().row`select count(*) as left from :schema.rate_limits`).toEqual({ left: 1 });
  });

  test('deletes no more than that however the server goes about it', async () => {
    const limits = open({ AUTHSVC_RATE_LIMIT_STORE: 'postgres' });
    await times(5, (index) => ask(limits, `old ${index}`));
    await limits.close?.();
    clock.advance(longestRefillMs(settingsFor()) + 1);
    await limits.database.transaction(async (tx) => {
      // What it may choose by itself when its statistics are old.
      for (const way of [
        'hashagg',
        'hashjoin',
        'mergejoin',
        'sort',
        'material',
        'memoize',
        'indexscan',
        'bitmapscan',
      ])
        await tx.script(`set local enable_${way} = off`);
      expect(await rateLimits.deleteIdle(tx, clock.now(), 3)).toBe(3);
      await tx.script(`insert into auth.send_limits (key, sent_at)
        select ('\\x0' || n)::bytea, '2026-01-01' from generate_series(1, 5) n`);
      expect(await sendLimits.deleteOld(tx, clock.now(), 3)).toBe(3);
      expect(await sendLimits.deleteOld(tx, clock.now(), 3)).toBe(2);
    });
  });

  test('deletes old notes of what was sent', async () => {
    const { database } = open();
    await database.autocommit().script(`
      insert into auth.send_limits (key, sent_at) values
        ('\\x01', '2026-01-01'), ('\\x02', '2026-01-01'), ('\\x03', '2026-01-03')`);
    const before = new Date('2026-01-02');
    expect(await sendLimits.deleteOld(database.autocommit(), before, 1)).toBe(1);
    expect(await sendLimits.deleteOld(database.autocommit(), before, 9)).toBe(1);
    expect(await database.autocommit().rows`select key from :schema.send_limits`).toEqual([
      { key: Buffer.from([3]) },
    ]);
    await database.autocommit().script('delete from auth.send_limits');
  });

  test('a longer time in a setting is kept longer', () => {
    expect(longestRefillMs(settingsFor({ AUTHSVC_RATE_LIMIT_EMAIL_SENT: '100/24h' }))).toBe(24 * HOUR_MS);
  });
});
