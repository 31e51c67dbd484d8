/** How many slots there are, and how one waits for them. */
export interface SlotOptions {
  readonly slots: number;
  /** How many may wait, and what everybody beyond is told; any number by default. */
  readonly line?: { readonly places: number; readonly refuse: () => Error };
  /** How long each may wait, in milliseconds; for ever by default. */
  readonly patienceMs?: number;
}

interface Waiting {
  readonly share: string;
  readonly enter: () => void;
}

/** What only so many can have at once. Nobody gets more than half of it, nor more than half of the places in the line. */
export class Slots {
  readonly #options: SlotOptions;
  readonly #perShare: number;
  readonly #waiting: Waiting[] = [];
  /** Slots that each share has. */
  readonly #held = new Map<string, number>();
  #taken = 0;

  constructor(options: SlotOptions) {
    this.#options = options;
    this.#perShare = Math.max(1, Math.ceil(options.slots / 2));
  }

  /**
   * Waits for a free slot; the function it returns gives it back, once.
   * @param share whose the slot is
   * @throws what the line refuses with, and an error when nobody gave one back in time
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
    const { line, patienceMs } = this.#options;
    if (line !== undefined) {
      const own = this.#waiting.filter((one) => one.share === share).length;
      if (this.#waiting.length >= line.places || own >= Math.ceil(line.places / 2)) throw line.refuse();
    }
    await new Promise<void>((resolve, reject) => {
      const everybody = this.#waiting;
      const giveUp = () => {
        everybody.splice(everybody.indexOf(waiting), 1);
        reject(new Error('nobody gave a slot back in time'));
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
    if (this.#taken >= this.#options.slots || held >= this.#perShare) return false;
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
