import { Failure } from '@croft/failure';
import { LRUCache } from 'lru-cache';

/** A merge queue tries this often what goes wrong without anybody being told why: a disk that is full may be emptied. */
const MOST = 3;
/** A queue is looked at whenever somebody pushes or a check speaks: what goes wrong meanwhile is the same attempt. */
const APART_MS = 5_000;

interface Failed {
  count: number;
  /** When it was counted last. */
  at: number;
}

/** What has gone wrong with entries of merge queues, as long as the process runs: after a restart it is tried anew. */
export class Attempts {
  readonly #failed = new LRUCache<number, Failed>({ max: 1000 });

  /** Whether an entry is to be given up for what went wrong with it: what only the moment forbids is tried again like an error of ours. */
  isFinal(entryId: number, error: unknown, now: Date): boolean {
    return (error instanceof Failure && error.kind !== 'unavailable') || this.fail(entryId, now);
  }

  /** Notes that something about an entry went wrong; true when it is to be given up. */
  fail(entryId: number, now: Date): boolean {
    const at = now.getTime();
    const before = this.#failed.get(entryId);
    if (before !== undefined && at - before.at < APART_MS) return false;
    const count = (before?.count ?? 0) + 1;
    this.#failed.set(entryId, { count, at });
    return count >= MOST;
  }

  /** Forgets an entry, with which all is well or which is gone. */
  forget(entryId: number): void {
    this.#failed.delete(entryId);
  }
}
