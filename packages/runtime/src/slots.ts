/** How many slots there are, and how one waits for them. */
export interface SlotOptions {
  readonly slots: number;
  readonly line: {
    /** How many may wait. */
    readonly places: number;
    /** How long each may wait, in milliseconds; for ever by default. */
    readonly patienceMs?: number;
    /** What everybody is told for whom there is no place, or who waited too long. */
    readonly refuse: () => Error;
  };
}

interface Waiting {
  readonly share: string;
  readonly enter: () => void;
}

/**
 * What only so many can have at once. Nobody gets more than half of it, nor more than half of the places in the line, and a quarter
 * is for those who have none yet.
 */
export class Slots {
  readonly #options: SlotOptions;
  readonly #perShare: number;
  /** Slots that are for whoever has none. */
  readonly #kept: number;
  readonly #waiting: Waiting[] = [];
  /** Slots that each share has. */
  readonly #held = new Map<string, number>();
  #taken = 0;

  constructor(options: SlotOptions) {
    this.#options = options;
    this.#perShare = Math.max(1, Math.ceil(options.slots / 2));
    this.#kept = Math.floor(options.slots / 4);
  }

  /**
   * Waits for a free slot; the function it returns gives it back, once.
   * @param share whose the slot is
   * @throws what the line refuses with
   */
  async take(share: string): Promise<() => void> {
    if (!this.#enter(share)) await this.#untilFree(share);
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.#leave(share);
    };
  }

  async #untilFree(share: string): Promise<void> {
    const { places, patienceMs, refuse } = this.#options.line;
    const own = this.#waiting.filter((one) => one.share === share).length;
    if (this.#waiting.length >= places || own >= Math.ceil(places / 2)) throw refuse();
    await new Promise<void>((resolve, reject) => {
      const everybody = this.#waiting;
      const giveUp = () => {
        everybody.splice(everybody.indexOf(waiting), 1);
        reject(refuse());
      };
      const timer = patienceMs === undefined ? undefined : setTimeout(giveUp, patienceMs);
      const enter = () => {
        clearTimeout(timer);
        resolve();
      };
      const waiting: Waiting = { share, enter };
      everybody.push(waiting);
    });
  }

  #enter(share: string): boolean {
    const held = this.#held.get(share) ?? 0;
    const free = this.#options.slots - this.#taken - (held === 0 ? 0 : this.#kept);
    if (free <= 0 || held >= this.#perShare) return false;
    this.#taken++;
    this.#held.set(share, held + 1);
    return true;
  }

  /** The slot goes from hand to hand: to who has the fewest, and of those to the first in the line. */
  #leave(share: string): void {
    const held = (this.#held.get(share) ?? 1) - 1;
    if (held === 0) this.#held.delete(share);
    else this.#held.set(share, held);
    this.#taken--;
    const heldBy = (one: Waiting) => this.#held.get(one.share) ?? 0;
    const [next] = this.#waiting.toSorted((a, b) => heldBy(a) - heldBy(b));
    if (next === undefined || !this.#enter(next.share)) return;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    next.enter();
  }
}
