import { busy } from './failures.ts';
import { UnrecordedPushes } from './git-http/unrecorded-pushes.ts';
import { QueueBell } from './merge-queue/bell.ts';

/** Waiting lines of the service: merges into one branch, and git programs serving clients. */
export class Queues {
  /** Rung when a merge queue may have something to do. */
  readonly bell = new QueueBell();
  /** Pushes that are under way or wait for another record. */
  readonly pushes = new UnrecordedPushes();
  readonly #tails = new Map<string, Promise<unknown>>();
  readonly #slots: number;
  readonly #waiting: { share: string; enter: () => void }[] = [];
  /** Slots that each share has. */
  readonly #held = new Map<string, number>();
  readonly #perShare: number;
  readonly #places: number;
  readonly #what: string;
  readonly #tracked = new Set<Promise<void>>();
  #taken = 0;

  /**
   * @param slots of what may run at once, by default git programs that serve clients
   * @param line how many may wait for them, and what they are called when there are too many
   */
  constructor(slots: number, line = { places: slots * WAITING_PER_SLOT, what: 'git requests' }) {
    this.#slots = slots;
    this.#places = line.places;
    this.#what = line.what;
    this.#perShare = Math.max(1, Math.ceil(slots / 2));
  }

  /** Runs work with the same key one after the other, in the order of the calls, and tells it whether it had to wait. */
  async inTurn<T>(key: string, work: (waited: boolean) => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const result = before === undefined ? work(false) : before.then(() => work(true));
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
   * Waits for a free slot; the function it returns gives it back, once. Nobody gets more than half of the slots, nor
   * more than half of the places where one waits for them.
   * @param share whose the slot is
   * @throws 503 when too many wait already
   */
  async takeSlot(share: string): Promise<() => void> {
    if (!this.#enter(share)) {
      const own = this.#waiting.filter((one) => one.share === share).length;
      if (this.#waiting.length >= this.#places || own >= Math.ceil(this.#places / 2)) throw busy(this.#what);
      await new Promise<void>((enter) => this.#waiting.push({ share, enter }));
    }
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.#leave(share);
    };
  }

  #enter(share: string): boolean {
    const held = this.#held.get(share) ?? 0;
    if (this.#taken >= this.#slots || held >= this.#perShare) return false;
    this.#taken++;
    this.#held.set(share, held + 1);
    return true;
  }

  /** The slot goes from hand to hand: to the first in the line who may have one more. */
  #leave(share: string): void {
    const held = (this.#held.get(share) ?? 1) - 1;
    if (held === 0) this.#held.delete(share);
    else this.#held.set(share, held);
    this.#taken--;
    const next = this.#waiting.findIndex((one) => this.#enter(one.share));
    if (next !== -1) this.#waiting.splice(next, 1)[0]?.enter();
  }
}

const WAITING_PER_SLOT = 8;
