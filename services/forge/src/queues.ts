import { busy } from './failures.ts';

/** Waiting lines of the service: merges into one branch, and git programs serving clients. */
export class Queues {
  readonly #tails = new Map<string, Promise<unknown>>();
  readonly #slots: number;
  readonly #waiting: (() => void)[] = [];
  readonly #tracked = new Set<Promise<void>>();
  #taken = 0;

  /** @param slots git programs that may serve clients at once */
  constructor(slots: number) {
    this.#slots = slots;
  }

  /** Runs work with the same key one after the other, in the order of the calls. */
  async inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const result = before.then(work);
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

  /**
   * Waits for a free slot; the function it returns gives it back, once.
   * @throws 503 when too many wait already
   */
  async takeSlot(): Promise<() => void> {
    if (this.#taken >= this.#slots) {
      if (this.#waiting.length >= this.#slots * WAITING_PER_SLOT) throw busy('git requests');
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#taken++;
    }
    let given = false;
    return () => {
      if (given) return;
      given = true;
      const next = this.#waiting.shift();
      // The slot goes from hand to hand; nobody can slip in between.
      if (next === undefined) this.#taken--;
      else next();
    };
  }
}

const WAITING_PER_SLOT = 8;
