import { LRUCache } from 'lru-cache';

/** A merge queue tries this often what goes wrong without anybody being told why: a disk that is full may be emptied. */
const MOST = 3;

/** What has gone wrong with entries of merge queues, as long as the process runs: after a restart it is tried anew. */
export class Attempts {
  readonly #failed = new LRUCache<number, number>({ max: 1000 });

  /** Notes that something about an entry went wrong; true when it is to be given up. */
  fail(entryId: number): boolean {
    const count = (this.#failed.get(entryId) ?? 0) + 1;
    this.#failed.set(entryId, count);
    return count >= MOST;
  }

  /** Forgets an entry, with which all is well or which is gone. */
  forget(entryId: number): void {
    this.#failed.delete(entryId);
  }
}
