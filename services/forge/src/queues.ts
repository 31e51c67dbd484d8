import { Slots, withShare } from '@croft/runtime';
import { busy } from './failures.ts';
import { UnrecordedPushes } from './git-http/unrecorded-pushes.ts';
import { QueueBell } from './merge-queue/bell.ts';

const WAITING_PER_SLOT = 8;
/** Whoever waits longer may be long gone. */
const PATIENCE_MS = 5 * 60_000;
/** Requests of megabytes that are read at once. */
const LONG_FETCHES = 4;

/** Waiting lines of the service: merges into one branch, and git programs serving clients. */
export class Queues {
  /** Rung when a merge queue may have something to do. */
  readonly bell = new QueueBell();
  /** Pushes that are under way or wait for another record. */
  readonly pushes = new UnrecordedPushes();
  /** Of git programs that serve clients. */
  readonly clients: Slots;
  /** Of requests to fetch that take much memory, until a program has them. */
  readonly longFetches: Slots;
  readonly #tails = new Map<string, Promise<unknown>>();
  readonly #tracked = new Set<Promise<void>>();

  /** @param programs of git that serve clients at once */
  constructor(programs: number) {
    const refuse = () => busy('git requests');
    const line = (slots: number) => ({ places: slots * WAITING_PER_SLOT, patienceMs: PATIENCE_MS, refuse });
    this.clients = new Slots({ slots: programs, line: line(programs) });
    this.longFetches = new Slots({ slots: LONG_FETCHES, line: line(LONG_FETCHES) });
  }

  /** Runs work with the same key one after the other, in the order of the calls, and tells it whether it had to wait. */
  async inTurn<T>(key: string, work: (waited: boolean) => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    // Others wait for it, so it takes from no share that somebody may have used up.
    const begin = (waited: boolean) => withShare(key, () => work(waited));
    const result = before === undefined ? begin(false) : before.then(() => begin(true));
    const tail = result.then(
      () => {},
      () => {},
    );
    this.#tails.set(key, tail);
    try {
      return await result;
    } finally {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    }
  }

  /** Notes work that goes on whatever becomes of its request; the service waits for it before it closes. */
  track(work: Promise<void>): Promise<void> {
    this.#tracked.add(work);
    void work.finally(() => this.#tracked.delete(work));
    return work;
  }

  /** Waits for all noted work. */
  async drained(): Promise<void> {
    while (this.#tracked.size > 0) await Promise.all(this.#tracked);
  }
}
