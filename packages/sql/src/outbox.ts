import { setTimeout as sleep } from 'node:timers/promises';
import { type Log, reasonOf } from '@croft/runtime';
import pg from 'pg';
import { connectionTo } from './connection.ts';
import type { Database } from './database.ts';
import {
  finish,
  OUTBOX_CHANNEL,
  type OutboxRow,
  park,
  postpone,
  type Room,
  renew,
  takeDue,
} from './outbox-rows.ts';

/**
 * Delivers one effect; throws to have it tried again. The signal says that it has taken too long: it should end, and until it does it
 * keeps its slot and nobody else begins. Whoever takes the row away in the transaction of what he does, with `finish`, answers
 * `finished`.
 */
export type Deliver = (row: OutboxRow, signal: AbortSignal) => Promise<void | 'finished'>;

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
  /** Rows under way at once. */
  slots?: number;
  /** And of one lane that did well; another one gets a single row until it does. */
  perLane?: number;
  /** And of those without a lane, which go to no common place. */
  withoutLane?: number;
  /** Milliseconds until a delivery is told to end; tests take less than half a minute. */
  timeoutMs?: number;
}

/** A worker on the outbox of one schema. */
export interface Outbox {
  /** Delivers everything that is due now and returns; what the loop does, for tests and for a last round. */
  drain(): Promise<void>;
  /** Waits for deliveries under way. */
  close(): Promise<void>;
}

const SLOTS = 16;
/** Deliveries that end together are followed by one look for more. */
const GATHER_MS = 2;
/**
 * And what is announced one after the other is looked for once: a look and what follows take as many statements for one as for
 * many. With merges one behind the other it is two fifths of what they cost the process. Longer, and each step from what happened to
 * a webhook or a mail would be that much later.
 */
const ANNOUNCED_MS = 20;
/** A lane whose delivery took longer has to wait for itself. */
const SLOW_MS = 1_000;
const DELIVERY_TIMEOUT_MS = 30_000;
/** Twice the time-out, at which it is renewed: a row is never in two hands while its worker lives. */
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
  const { database, handlers, log, maxAttempts = MAX_ATTEMPTS, slots = SLOTS, perLane = slots } = options;
  const { withoutLane = perLane, timeoutMs = DELIVERY_TIMEOUT_MS } = options;
  const stop = new AbortController();
  const running = new Set<Promise<void>>();
  const lanes = laneCounter({ slots, perLane, withoutLane });
  let wake = Promise.withResolvers<void>();
  /** Wakes the worker a moment later; what else asks for that meanwhile is the same. */
  const wakeAfter = (milliseconds: number) => {
    let waiting = false;
    return () => {
      if (waiting) return;
      waiting = true;
      setTimeout(() => {
        waiting = false;
        wake.resolve();
      }, milliseconds);
    };
  };
  const ended = wakeAfter(GATHER_MS);
  const announced = wakeAfter(ANNOUNCED_MS);
  /** Whether there may be more than the last look had room for. */
  let more = false;

  /** Whether it went well. */
  async function deliver(row: OutboxRow): Promise<boolean> {
    const handler = handlers[row.topic];
    try {
      if (handler === undefined) throw new PermanentFailure(`no handler for topic ${row.topic}`);
      const result = await attempt(handler, row);
      if (result !== 'finished') await finish(database.autocommit(), row.id);
      return true;
    } catch (error) {
      await putBack(row, error as Error);
      return false;
    }
  }

  /** A handler that does not listen to its signal keeps its row until it ends; begun again it would be running twice. */
  async function attempt(handler: Deliver, row: OutboxRow): Promise<void | 'finished'> {
    const end = new AbortController();
    const { signal } = end;
    let renewal: Promise<void> | undefined;
    const timer = setInterval(() => {
      if (signal.aborted)
        log.warn({ outbox: row.id, topic: row.topic }, 'an effect is still on its way after its time');
      end.abort(new DOMException('the delivery took too long', 'TimeoutError'));
      // Where that fails its lease may run out.
      renewal = renew(database.autocommit(), row.id, LEASE_MS).catch(() => {});
    }, timeoutMs);
    // Whoever stops does not wait for what is told too late.
    timer.unref();
    try {
      return await handler(row, signal);
    } finally {
      clearInterval(timer);
      // What is said of the row next is not overwritten.
      await renewal;
    }
  }

  async function putBack(row: OutboxRow, error: Error): Promise<void> {
    const reason = storable(reasonOf(error));
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

  function begin(row: OutboxRow): void {
    const startedAt = performance.now();
    lanes.enter(row.lane);
    const delivery = deliver(row)
      .catch((error: unknown) => {
        // Its lease runs out, then somebody tries again.
        log.warn({ outbox: row.id, reason: reasonOf(error) }, 'an effect could not be recorded');
        return false;
      })
      .then((well) => {
        running.delete(delivery);
        const wasFull = lanes.leave(row.lane, well && performance.now() - startedAt < SLOW_MS);
        if (more || wasFull) ended();
      });
    running.add(delivery);
  }

  // One look after another, so that no two think the same slots are free.
  let looks: Promise<void> = Promise.resolve();
  function take(): Promise<void> {
    const look = looks.then(async () => {
      const total = slots - running.size;
      if (total <= 0) return;
      const room = { total, ...lanes.room() };
      const rows = await takeDue(database.autocommit(), room, LEASE_MS);
      more = isFilled(rows, room);
      // In the order in which they were announced.
      for (const row of rows.sort((a, b) => a.id - b.id)) begin(row);
    });
    looks = look.catch(() => {});
    return look;
  }

  async function drain(): Promise<void> {
    await take();
    while (running.size > 0) {
      await Promise.race(running);
      await take();
    }
  }

  async function work(): Promise<void> {
    while (!stop.signal.aborted) {
      // Replaced before the look, so that a row that commits during it wakes the next round.
      wake = Promise.withResolvers();
      const woken = wake.promise;
      try {
        await take();
      } catch (error) {
        log.warn({ reason: reasonOf(error) }, 'the outbox could not be read');
      }
      // Ended with the wait: wakes are many, and each would leave a timer behind.
      const rest = new AbortController();
      await Promise.race([
        woken,
        sleep(POLL_MS, undefined, { signal: rest.signal, ref: false }).catch(() => {}),
      ]);
      rest.abort();
    }
  }

  const listener = listen(database, log, stop.signal, announced);
  const worker = work();
  return {
    drain,
    async close() {
      stop.abort();
      wake.resolve();
      await Promise.all([worker, listener]);
      await Promise.all(running);
    },
  };
}

/**
 * Counts what is under way in each lane, and remembers which ones did well last. All lanes together never get the last quarter of
 * the slots, and those that have not done well no more than half of what is left: whoever can name lanes, such as hosts, can name
 * as many as he likes.
 */
function laneCounter({
  slots,
  perLane,
  withoutLane,
}: {
  slots: number;
  perLane: number;
  withoutLane: number;
}) {
  const underWay = new Map<string, number>();
  const good = new Set<string>();
  const mostLaned = Math.ceil((slots * 3) / 4);
  const mostUnproven = Math.ceil(mostLaned / 2);
  const mostOf = (lane: string) => (lane === '' ? withoutLane : good.has(lane) ? perLane : 1);
  const count = (isMeant: (lane: string) => boolean) =>
    [...underWay].reduce((sum, [lane, many]) => sum + (lane !== '' && isMeant(lane) ? many : 0), 0);
  const laned = () => count(() => true);
  const unproven = () => count((lane) => !good.has(lane));
  return {
    enter(lane: string): void {
      underWay.set(lane, (underWay.get(lane) ?? 0) + 1);
    },
    /** Whether there was no room for another one. */
    leave(lane: string, well: boolean): boolean {
      const before = underWay.get(lane) ?? 1;
      const wasFull =
        before >= mostOf(lane) || (lane !== '' && (laned() >= mostLaned || unproven() >= mostUnproven));
      if (before === 1) underWay.delete(lane);
      else underWay.set(lane, before - 1);
      good.delete(lane);
      if (well && lane !== '') good.add(lane);
      // The one that nobody used for longest.
      const [oldest = ''] = good;
      if (good.size > MAX_GOOD_LANES) good.delete(oldest);
      return wasFull;
    },
    room(): Omit<Room, 'total'> {
      return {
        laned: Math.max(0, mostLaned - laned()),
        unproven: Math.max(0, mostUnproven - unproven()),
        perGoodLane: perLane,
        good: [...good],
        lanes: [...new Set(['', ...underWay.keys()])].map((lane) => {
          return { lane, room: Math.max(0, mostOf(lane) - (underWay.get(lane) ?? 0)) };
        }),
      };
    },
  };
}

const MAX_GOOD_LANES = 1_000;

/** Whether as many were taken as there was room for, of a lane or of several together: then there may be more. */
function isFilled(rows: readonly OutboxRow[], room: Room): boolean {
  const good = new Set(room.good);
  const left = new Map(room.lanes.map((one) => [one.lane, one.room]));
  for (const { lane } of rows)
    left.set(lane, (left.get(lane) ?? (good.has(lane) ? room.perGoodLane : 1)) - 1);
  const laned = rows.filter(({ lane }) => lane !== '');
  const unproven = laned.filter(({ lane }) => !good.has(lane));
  return (
    rows.length >= room.total ||
    laned.length >= room.laned ||
    unproven.length >= room.unproven ||
    rows.some(({ lane }) => left.get(lane) === 0)
  );
}

/** Keeps one connection on LISTEN; polling covers the time it is away. */
async function listen(database: Database, log: Log, stop: AbortSignal, onNotify: () => void): Promise<void> {
  while (!stop.aborted) {
    const client = new pg.Client(connectionTo(database.url, database.schema, 'outbox'));
    // While the database is away there is one attempt a second: none may stay known to `stop`.
    const attempt = new AbortController();
    const gone = new Promise<void>((resolve) => {
      client.once('error', () => resolve());
      client.once('end', () => resolve());
      stop.addEventListener('abort', () => resolve(), { once: true, signal: attempt.signal });
    });
    client.on('notification', onNotify);
    try {
      await client.connect();
      await client.query(`listen ${OUTBOX_CHANNEL}`);
      onNotify();
      await gone;
    } catch (error) {
      log.debug({ reason: reasonOf(error) }, 'the outbox does not listen yet');
    }
    attempt.abort();
    await client.end().catch(() => {});
    await sleep(1_000, undefined, { signal: stop, ref: false }).catch(() => {});
  }
}

/** What is kept of a reason: it is often what somebody outside said, at any length. */
const MAX_REASON = 512;

/** No column takes U+0000: an effect whose end cannot be written would be tried for ever. */
const storable = (reason: string) => reason.slice(0, MAX_REASON).toWellFormed().replaceAll('\0', '');
