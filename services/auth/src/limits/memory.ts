import type { Clock } from '@croft/runtime';
import { LRUCache } from 'lru-cache';
import { type Level, levelAt, waitMs } from '../rules/limits/token-bucket.ts';
import type { Tokens } from './limits.ts';

/**
 * Clients that are known at once. Who has more addresses than this to ask from pushes out those who have not asked
 * for the longest time, himself among them, instead of filling the memory.
 */
export const MAX_CLIENTS = 50_000;

/** A cache of so many clients. As a number of entries they would all be allocated at once, 3 MB for a start to wait for. */
export const CLIENTS = { maxSize: MAX_CLIENTS, sizeCalculation: () => 1 };

/** Buckets of this process alone: several of them let through so many times as much. */
export function memoryTokens(clock: Clock): Tokens {
  const levels = new LRUCache<string, Level>(CLIENTS);
  return {
    take(name, bucket) {
      const { tokens, atMs } = levelAt(bucket, levels.get(name), clock.now().getTime());
      const wait = waitMs(bucket, tokens);
      levels.set(name, { tokens: wait > 0 ? tokens : tokens - 1, atMs });
      return wait;
    },
    giveBack(name, bucket) {
      const { tokens, atMs } = levelAt(bucket, levels.get(name), clock.now().getTime());
      levels.set(name, { tokens: Math.min(bucket.burst, tokens + 1), atMs });
    },
    waitFor(name, bucket) {
      return waitMs(bucket, levelAt(bucket, levels.get(name), clock.now().getTime()).tokens);
    },
    async close() {},
  };
}
