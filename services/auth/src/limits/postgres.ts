import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import type { Clock } from '@croft/runtime';
import type { Database } from '@croft/sql';
import { LRUCache } from 'lru-cache';
import { type Bucket, waitMs } from '../rules/limits/token-bucket.ts';
import * as rateLimits from '../store/rate-limits.ts';
import type { Tokens } from './limits.ts';
import { CLIENTS, MAX_CLIENTS } from './memory.ts';

/** What is asked of one bucket at the next opportunity. */
interface Want {
  readonly bucket: Bucket;
  /** Let through already, on credit; negative when more was given back. */
  spent: number;
  readonly waiting: { resolve: (ms: number) => void; reject: (reason: unknown) => void }[];
}

/** Buckets asked of the database at once; more wait for the next statement. */
const MAX_BATCH = 500;
/** What is answered when more clients wait than are kept in mind: the database does not keep up. */
const OVERLOADED_MS = 1000;

/**
 * Buckets that all processes on one database share.
 *
 * A request does not wait for its own token: the first of a client goes through on credit, and its token is taken
 * behind its back. Those that arrive before that is settled wait for the answer, so what goes through can exceed the
 * limit by one request a process, and the excess is charged: the bucket goes below zero. Whoever is refused is
 * refused from memory until a token is there, so a flood costs the database nothing.
 *
 * At most one statement is on its way, and it asks for everything that came up during the one before; under load it
 * serves hundreds of clients. Nothing is taken in stock, so a process that dies takes no tokens with it.
 */
export function sharedTokens(database: Database, clock: Clock): Tokens {
  const next = new Map<string, Want>();
  let underWay: ReadonlyMap<string, Want> = new Map();
  const refusedUntilMs = new LRUCache<string, number>(CLIENTS);
  let settling: Promise<void> | undefined;
  // What is settled belongs to no request, so the time limit of the one that happens to start it must not end it.
  const outsideRequests = AsyncLocalStorage.snapshot();

  function want(name: string, bucket: Bucket): Want {
    const known = next.get(name);
    if (known !== undefined) return known;
    const made: Want = { bucket, spent: 0, waiting: [] };
    next.set(name, made);
    return made;
  }
  function settleSoon(): void {
    settling ??= outsideRequests(settle).finally(() => {
      settling = undefined;
    });
  }
  async function settle(): Promise<void> {
    // Requests that arrive together are asked for together.
    await new Promise(setImmediate);
    while (next.size > 0) {
      const batch = new Map([...next].slice(0, MAX_BATCH));
      for (const name of batch.keys()) next.delete(name);
      underWay = batch;
      const settled = await settleBatch(batch);
      underWay = new Map();
      // Whoever asks next tries again; until then nobody goes through on credit a second time.
      if (!settled) return;
    }
  }
  async function settleBatch(batch: ReadonlyMap<string, Want>): Promise<boolean> {
    try {
      const levels = await takeFromDatabase(database, batch);
      const nowMs = clock.now().getTime();
      for (const [name, { bucket, waiting }] of batch) {
        const { granted = 0, tokens = 0 } = levels.get(name) ?? {};
        const wait = waitMs(bucket, tokens);
        if (wait > 0) refusedUntilMs.set(name, nowMs + wait);
        for (const [index, { resolve }] of waiting.entries()) resolve(index < granted ? 0 : wait);
      }
      return true;
    } catch (error) {
      for (const [name, { bucket, spent, waiting }] of batch) {
        if (spent !== 0 && next.size < MAX_CLIENTS) want(name, bucket).spent += spent;
        for (const { reject } of waiting) reject(error);
      }
      // Nobody else would answer those that came meanwhile.
      for (const [name, { spent, waiting }] of next) {
        for (const { reject } of waiting.splice(0)) reject(error);
        if (spent === 0) next.delete(name);
      }
      return false;
    }
  }

  return {
    take(name, bucket) {
      if (bucket.burst < 1) return waitMs(bucket, 0);
      const refusedMs = (refusedUntilMs.get(name) ?? 0) - clock.now().getTime();
      if (refusedMs > 0) return refusedMs;
      const isFirst = !next.has(name) && !underWay.has(name);
      if (isFirst && next.size >= MAX_CLIENTS) return OVERLOADED_MS;
      const wanted = want(name, bucket);
      settleSoon();
      if (!isFirst) return new Promise((resolve, reject) => wanted.waiting.push({ resolve, reject }));
      wanted.spent++;
      return 0;
    },
    giveBack(name, bucket) {
      refusedUntilMs.delete(name);
      want(name, bucket).spent--;
      settleSoon();
    },
    waitFor(name, bucket) {
      if (bucket.burst < 1) return waitMs(bucket, 0);
      return Math.max(0, (refusedUntilMs.get(name) ?? 0) - clock.now().getTime());
    },
    async close() {
      await settling;
    },
  };
}

/** What was granted to each and what is left, by name. */
async function takeFromDatabase(
  database: Database,
  batch: ReadonlyMap<string, Want>,
): Promise<Map<string, rateLimits.Taken>> {
  const names = new Map<string, string>();
  let open = [...batch].map(([name, { bucket, spent, waiting }]): rateLimits.Asked => {
    // A client is no secret, but what the table need not tell it does not.
    const key = createHash('sha256').update(name).digest();
    names.set(key.toString('hex'), name);
    return { key, spent, wanted: waiting.length, ...bucket };
  });
  const levels = new Map<string, rateLimits.Taken>();
  // A bucket nobody had is made; when another process was quicker, it is there at the next look.
  for (const ask of [rateLimits.take, rateLimits.insert, rateLimits.take]) {
    for (const { key, ...taken } of await ask(database.autocommit(), open)) {
      levels.set(names.get(key.toString('hex')) ?? '', taken);
    }
    open = open.filter(({ key }) => !levels.has(names.get(key.toString('hex')) ?? ''));
    if (open.length === 0) break;
  }
  return levels;
}
