import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLog } from '@croft/runtime';
import { type FixedClock, fixedClock, type TestDatabase, testDatabase } from '@croft/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  countOutbox,
  type Database,
  enqueue,
  enqueueAll,
  finish,
  openDatabase,
  PermanentFailure,
} from '../src/index.ts';
import { backOff, type Deliver, type Outbox, startOutbox } from '../src/outbox.ts';

let home: TestDatabase;
let database: Database;
let clock: FixedClock;
const running: Outbox[] = [];

beforeEach(async () => {
  clock = fixedClock();
  home = await testDatabase({ schema: 'post', migrations: new URL('./migrations/', import.meta.url) });
  database = openDatabase({ url: home.url, schema: 'post', log: silentLog, clock });
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((outbox) => outbox.close()));
  await database.close();
  await home[Symbol.asyncDispose]();
});

function start(deliver: (payload: unknown) => void | Promise<void>, maxAttempts = 12): Outbox {
  const outbox = startOutbox({
    database,
    log: silentLog,
    maxAttempts,
    handlers: { mail: async (row) => deliver(row.payload) },
  });
  running.push(outbox);
  return outbox;
}
const counts = () => countOutbox(database.autocommit());

describe('outbox', () => {
  it('delivers what committed, and wakes up for it', async () => {
    const delivered: unknown[] = [];
    start((payload) => void delivered.push(payload));
    await database.transaction((tx) => enqueue(tx, 'mail', { to: 'ada' }));
    await vi.waitFor(async () => expect(await counts()).toEqual({ waiting: 0, parked: 0 }), 3000);
    expect(delivered).toEqual([{ to: 'ada' }]);
  });

  it('announces nothing that did not commit', async () => {
    const delivered: unknown[] = [];
    const outbox = start((payload) => void delivered.push(payload));
    await database
      .transaction(async (tx) => {
        await enqueue(tx, 'mail', { to: 'ada' });
        throw new Error('no');
      })
      .catch(() => {});
    await outbox.drain();
    expect(delivered).toEqual([]);
  });

  it('tries again after a back-off that grows', async () => {
    let failures = 2;
    const attempts: number[] = [];
    const outbox = start(() => {
      attempts.push(clock.now().getTime());
      if (failures-- > 0) throw new Error('mail server is down');
    });
    await enqueue(database.autocommit(), 'mail', {});
    await outbox.drain();
    await outbox.drain();
    expect(attempts).toHaveLength(1);
    clock.advance(6_000);
    await outbox.drain();
    clock.advance(6_000);
    await outbox.drain();
    expect(attempts).toHaveLength(2);
    clock.advance(6_000);
    await outbox.drain();
    expect(attempts).toHaveLength(3);
    expect(await counts()).toEqual({ waiting: 0, parked: 0 });
  });

  it('parks what failed for good, with its reason, and goes on with the rest', async () => {
    const outbox = start((payload) => {
      if ((payload as { bad?: boolean }).bad) throw new PermanentFailure('no such mailbox');
    });
    await enqueue(database.autocommit(), 'mail', { bad: true });
    await enqueue(database.autocommit(), 'unknown-topic', {});
    await enqueue(database.autocommit(), 'mail', {});
    await outbox.drain();
    expect(await counts()).toEqual({ waiting: 0, parked: 2 });
    const reasons = await database.autocommit().rows<{
      last_error: string;
    }>`select last_error from :schema.outbox order by id`;
    expect(reasons.map((row) => row.last_error)).toEqual([
      'no such mailbox',
      'no handler for topic unknown-topic',
    ]);
  });

  it('keeps of a reason what a column takes', async () => {
    const outbox = start((payload) => {
      const words = `No\0 way\ud800${'!'.repeat(100_000)}`;
      throw (payload as { bad?: boolean }).bad ? new PermanentFailure(words) : new Error(words);
    });
    await enqueue(database.autocommit(), 'mail', { bad: true });
    await enqueue(database.autocommit(), 'mail', {});
    await outbox.drain();
    expect(await counts()).toEqual({ waiting: 1, parked: 1 });
    const rows = await database.autocommit().rows<{
      last_error: string;
    }>`select last_error from :schema.outbox`;
    for (const { last_error: reason } of rows) expect(reason).toMatch(/^No way\ufffd!{500,510}$/);
    expect(rows).toHaveLength(2);
  });

  it('parks after the last attempt', async () => {
    const outbox = start(() => {
      throw new Error('still down');
    }, 2);
    await enqueue(database.autocommit(), 'mail', {});
    await outbox.drain();
    expect(await counts()).toEqual({ waiting: 1, parked: 0 });
    clock.advance(60_000);
    await outbox.drain();
    expect(await counts()).toEqual({ waiting: 0, parked: 1 });
  });

  it('shares rows among workers without delivering one twice', async () => {
    const delivered: number[] = [];
    const outboxes = Array.from({ length: 4 }, () =>
      start((payload) => void delivered.push((payload as { n: number }).n)),
    );
    for (let n = 0; n < 60; n++) await enqueue(database.autocommit(), 'mail', { n });
    await Promise.all(outboxes.map((outbox) => outbox.drain()));
    await vi.waitFor(async () => expect(await counts()).toEqual({ waiting: 0, parked: 0 }), 3000);
    expect(delivered.sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, n) => n));
  });

  it('delivers what a dead worker had taken, once its lease is over', async () => {
    await enqueue(database.autocommit(), 'mail', {});
    await database.autocommit()
      .run`update :schema.outbox set attempts = 1, run_at = ${new Date(clock.now().getTime() + 60_000)}`;
    const delivered: unknown[] = [];
    const outbox = start((payload) => void delivered.push(payload));
    await outbox.drain();
    expect(delivered).toEqual([]);
    clock.advance(60_000);
    await outbox.drain();
    expect(delivered).toEqual([{}]);
  });
});

describe('a delivery that takes too long', () => {
  const startHasty = (deliver: Deliver): Outbox => {
    const outbox = startOutbox({ database, log: silentLog, timeoutMs: 50, handlers: { mail: deliver } });
    running.push(outbox);
    return outbox;
  };
  const row = () =>
    database.autocommit().row<{ run_at: Date; last_error: string | null }>`
      select run_at, last_error from :schema.outbox`;

  it('is in one hand until it ends, however long that takes, and counts if it succeeds', async () => {
    const { promise: end, resolve: endIt } = Promise.withResolvers<void>();
    const told: AbortSignal[] = [];
    const deliver: Deliver = async (_row, signal) => {
      told.push(signal);
      await end;
    };
    startHasty(deliver);
    await enqueue(database.autocommit(), 'mail', {});
    await vi.waitFor(() => expect(told[0]?.aborted).toBe(true), 5_000);
    // In another process, for instance.
    const other = startHasty(deliver);
    for (let round = 0; round < 3; round++) {
      clock.advance(59_000);
      const renewed = clock.now().getTime() + 60_000;
      await vi.waitFor(async () => expect((await row())?.run_at.getTime()).toBe(renewed), 5_000);
      await other.drain();
    }
    endIt();
    await vi.waitFor(async () => expect(await counts()).toEqual({ waiting: 0, parked: 0 }), 5_000);
    expect(told).toHaveLength(1);
  });

  it('is told so, and tried again like any other that failed', async () => {
    const outbox = startHasty(async (_row, signal) => {
      await once(signal, 'abort');
      throw signal.reason;
    });
    await enqueue(database.autocommit(), 'mail', {});
    await outbox.drain();
    expect(await row()).toMatchObject({ last_error: 'the delivery took too long' });
    expect((await row())?.run_at.getTime()).toBeLessThan(clock.now().getTime() + 6_000);
  });
});

describe('lanes', () => {
  function startLanes(deliver: Deliver): Outbox {
    const outbox = startOutbox({
      database,
      log: silentLog,
      slots: 8,
      perLane: 2,
      handlers: { hook: deliver },
    });
    running.push(outbox);
    return outbox;
  }
  const hooks = (lane: string, count: number) =>
    enqueueAll(
      database.autocommit(),
      'hook',
      Array.from({ length: count }, (_, n) => ({ payload: { n }, lane })),
    );

  it('lets nobody wait for a lane that is stuck', async () => {
    const stuck = Promise.withResolvers<void>();
    const delivered: string[] = [];
    let atOnce = 0;
    await hooks('stuck.test', 100);
    await hooks('quick.test', 100);
    startLanes(async (row) => {
      if (row.lane === 'stuck.test') {
        atOnce++;
        await stuck.promise;
      }
      delivered.push(row.lane);
    });
    await vi.waitFor(() => expect(delivered).toHaveLength(100), 3000);
    expect(new Set(delivered)).toEqual(new Set(['quick.test']));
    expect(atOnce).toBe(1);
    stuck.resolve();
    await vi.waitFor(() => expect(delivered).toHaveLength(200), 3000);
  });

  it('keeps room for others, whoever names many lanes that are stuck', async () => {
    const stuck = Promise.withResolvers<void>();
    const delivered: string[] = [];
    let atOnce = 0;
    const outbox = startLanes(async ({ lane }) => {
      if (lane.startsWith('stuck')) {
        atOnce++;
        await stuck.promise;
      }
      delivered.push(lane);
    });
    await hooks('known.test', 1);
    await outbox.drain();
    for (let n = 0; n < 50; n++) await hooks(`stuck-${n}.test`, 1);
    await vi.waitFor(() => expect(atOnce).toBe(3), 3000);
    await hooks('known.test', 20);
    await hooks('', 20);
    await vi.waitFor(() => expect(delivered).toHaveLength(41), 3000);
    expect(delivered.filter((lane) => lane === '')).toHaveLength(20);
    expect(atOnce).toBe(3);
    stuck.resolve();
    await vi.waitFor(() => expect(delivered).toHaveLength(91), 10_000);
    await vi.waitFor(async () => expect(await counts()).toEqual({ waiting: 0, parked: 0 }), 3000);
  });

  it('lets a new lane have its turn beside many that are stuck, however old what waits there is', async () => {
    const delivered: string[] = [];
    for (let n = 0; n < 12; n++) await hooks(`slow-${n}.test`, 30);
    clock.advance(1_000);
    await hooks('new.test', 1);
    const outbox = startLanes(async ({ lane }) => {
      if (lane.startsWith('slow')) {
        await sleep(50);
        throw new Error('no answer');
      }
      delivered.push(lane);
    });
    await vi.waitFor(() => expect(delivered).toEqual(['new.test']), 5_000);
    expect((await counts()).waiting).toBeGreaterThan(300);
    await outbox.close();
  });

  it('gives a lane that fails one row at a time until it does better', async () => {
    let fails = true;
    let atOnce = 0;
    const most: number[] = [];
    await hooks('gone.test', 1);
    const outbox = startLanes(async () => {
      most.push(++atOnce);
      await new Promise((resolve) => setTimeout(resolve, 20));
      atOnce--;
      if (fails) throw new Error('connection refused');
    });
    await outbox.drain();
    most.length = 0;
    await hooks('gone.test', 3);
    await outbox.drain();
    expect(most).toEqual([1, 1, 1]);
    fails = false;
    clock.advance(3_600_000);
    await hooks('gone.test', 8);
    await outbox.drain();
    expect(Math.max(...most)).toBe(2);
    expect(await counts()).toEqual({ waiting: 0, parked: 0 });
  });

  it('looks again where there may be more than there was room for, and nowhere else', async () => {
    const other = openDatabase({ url: home.url, schema: 'post', log: silentLog, clock });
    const waiting = async () => (await countOutbox(other.autocommit())).waiting;
    running.push(startOutbox({ database, log: silentLog, slots: 2, handlers: { mail: async () => {} } }));
    // Once at its start, and once when it listens.
    await expect.poll(() => database.roundTrips, { timeout: 5_000 }).toBe(2);
    await enqueue(other.autocommit(), 'mail', {});
    await expect.poll(waiting, { timeout: 5_000 }).toBe(0);
    await sleep(100);
    // A look, and the end of the delivery.
    expect(database.roundTrips).toBe(4);
    await other.transaction((tx) =>
      enqueueAll(
        tx,
        'mail',
        [{}, {}, {}, {}, {}].map((payload) => ({ payload, lane: '' })),
      ),
    );
    // In less time than passes between two looks that nothing asks for.
    await expect.poll(waiting, { timeout: 3_000 }).toBe(0);
    await other.close();
  });

  it('leaves a row alone that its delivery has taken away, and tells who comes second', async () => {
    const first: boolean[] = [];
    await hooks('', 2);
    const outbox = startLanes(async (row) => {
      await database.transaction(async (tx) => {
        first.push(await finish(tx, row.id), await finish(tx, row.id));
      });
      return 'finished';
    });
    await outbox.drain();
    expect(first.sort()).toEqual([false, false, true, true]);
    expect(await counts()).toEqual({ waiting: 0, parked: 0 });
  });
});

describe('backOff', () => {
  it('doubles from five seconds to six hours, within a tenth', () => {
    expect([1, 2, 3, 13, 40].map((attempts) => backOff(attempts, 0.5))).toEqual([
      5_000, 10_000, 20_000, 20_480_000, 21_600_000,
    ]);
    expect([backOff(1, 0), backOff(1, 1)]).toEqual([4_500, 5_500]);
  });
});
