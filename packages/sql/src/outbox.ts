import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@croft/runtime';
import pg from 'pg';
import type { Database } from './database.ts';
import { finish, OUTBOX_CHANNEL, type OutboxRow, park, postpone, takeDue } from './outbox-rows.ts';

/** Delivers one effect; throws to have it tried again. The signal ends the attempt at its time-out. */
export type Deliver = (row: OutboxRow, signal: AbortSignal) => Promise<void>;

/** Throw this from a delivery that can never succeed: the row is parked at once. */
export class PermanentFailure extends Error {
  override readonly name = 'PermanentFailure';
}

/** How an outbox is worked off. */
export interface OutboxOptions {
  database: Database;
  /** One function a topic. */
  handlers: Readonly<Record<string, Deliver>>;
  log: Log;
  /** Attempts before a row is parked; with the back-off below 12 attempts span about a day. */
  maxAttempts?: number;
}

/** A worker on the outbox of one schema. */
export interface Outbox {
  /** Delivers everything that is due now and returns; what the loop does, for tests and for a last round. */
  drain(): Promise<void>;
  /** Waits for deliveries under way. */
  close(): Promise<void>;
}

const BATCH = 16;
const DELIVERY_TIMEOUT_MS = 30_000;
/** Longer than the time-out, so that a row is never in two hands while its worker lives. */
const LEASE_MS = 60_000;
/** A retry has no NOTIFY of its own; this is how late it can be noticed. */
const POLL_MS = 5_000;
const MAX_ATTEMPTS = 12;

/** Milliseconds before attempt n+1: 5 s, 10 s, 20 s … at most 6 h, with a fifth of jitter so that rows do not march in step. */
export function backOff(attempts: number, random: number): number {
  return Math.min(5_000 * 2 ** (attempts - 1), 6 * 3_600_000) * (0.9 + random * 0.2);
}

/** Starts a worker; several processes may each have one on the same database. */
export function startOutbox(options: OutboxOptions): Outbox {
  const { database, handlers, log, maxAttempts = MAX_ATTEMPTS } = options;
  const stop = new AbortController();
  let wake = Promise.withResolvers<void>();

  async function deliver(row: OutboxRow): Promise<void> {
    const handler = handlers[row.topic];
    try {
      if (handler === undefined) throw new PermanentFailure(`no handler for topic ${row.topic}`);
      await beforeTimeout((signal) => handler(row, signal));
      await finish(database.autocommit(), row.id);
    } catch (error) {
      const reason = (error as Error).message;
      const tx = database.autocommit();
      if (error instanceof PermanentFailure || row.attempts >= maxAttempts) {
        log.error(
          { outbox: row.id, topic: row.topic, attempts: row.attempts, reason },
          'an effect was given up and parked',
        );
        await park(tx, row.id, reason);
      } else {
        const runAt = new Date(tx.now.getTime() + backOff(row.attempts, Math.random()));
        log.warn(
          { outbox: row.id, topic: row.topic, attempts: row.attempts, reason, runAt },
          'an effect failed and will be tried again',
        );
        await postpone(tx, row.id, runAt, reason);
      }
    }
  }

  async function takeAndDeliver(): Promise<void> {
    for (;;) {
      const rows = await takeDue(database.autocommit(), BATCH, LEASE_MS);
      await Promise.all(rows.map(deliver));
      if (rows.length < BATCH) return;
    }
  }

  // One round after another, so that whoever drains also waits for what the loop had taken before.
  let rounds: Promise<void> = Promise.resolve();
  function drain(): Promise<void> {
    const round = rounds.then(takeAndDeliver);
    rounds = round.catch(() => {});
    return round;
  }

  async function work(): Promise<void> {
    while (!stop.signal.aborted) {
      // Replaced before the look, so that a row that commits during it wakes the next round.
      wake = Promise.withResolvers();
      const woken = wake.promise;
      try {
        await drain();
      } catch (error) {
        log.warn({ reason: (error as Error).message }, 'the outbox could not be read');
      }
      await Promise.race([
        woken,
        sleep(POLL_MS, undefined, { signal: stop.signal, ref: false }).catch(() => {}),
      ]);
    }
  }

  const listener = listen(database, log, stop.signal, () => wake.resolve());
  const worker = work();
  return {
    drain,
    async close() {
      stop.abort();
      wake.resolve();
      await Promise.all([worker, listener]);
    },
  };
}

/** A handler that does not listen to its signal must not outlive its lease: it would be running twice. */
async function beforeTimeout(deliver: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const signal = AbortSignal.timeout(DELIVERY_TIMEOUT_MS);
  const late = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => late.reject(new Error('the delivery took too long')), {
    once: true,
  });
  await Promise.race([deliver(signal), late.promise]);
}

/** Keeps one connection on LISTEN; polling covers the time it is away. */
async function listen(database: Database, log: Log, stop: AbortSignal, onNotify: () => void): Promise<void> {
  while (!stop.aborted) {
    const client = new pg.Client({
      connectionString: database.url,
      application_name: `croft ${database.schema} outbox`,
    });
    const gone = new Promise<void>((resolve) => {
      client.once('error', () => resolve());
      client.once('end', () => resolve());
      stop.addEventListener('abort', () => resolve(), { once: true });
    });
    client.on('notification', onNotify);
    try {
      await client.connect();
      await client.query(`listen ${OUTBOX_CHANNEL}`);
      onNotify();
      await gone;
    } catch (error) {
      log.debug({ reason: (error as Error).message }, 'the outbox does not listen yet');
    }
    await client.end().catch(() => {});
    await sleep(1_000, undefined, { signal: stop, ref: false }).catch(() => {});
  }
}
