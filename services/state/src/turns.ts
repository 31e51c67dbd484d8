import { tooManyWaiting } from './failures.ts';

/** At most so many wait for one key. */
const MAX_WAITING = 100;

interface Waiter {
  readonly label: string;
  readonly start: () => void;
}

interface Line {
  label: string;
  readonly waiting: Waiter[];
}

/** What runs under a key and how many wait for it. */
interface Turn {
  readonly key: string;
  readonly running: string;
  readonly waiting: number;
}

/** Work that must not overlap goes one at a time per key, first come first served; waiting ends with its signal. */
export class Turns {
  readonly #lines = new Map<string, Line>();

  /**
   * Runs `work` when everything asked for earlier under the same key is done.
   * @throws the signal's reason when it is aborted first; RESOURCE_EXHAUSTED when too many wait
   */
  async take<T>(key: string, label: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    await this.#wait(key, label, signal);
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      this.#next(key);
    }
  }

  /** The same under several keys at once, always in the same order, or two of them could wait for each other. */
  async takeAll<T>(
    keys: readonly string[],
    label: string,
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T> {
    const [first, ...others] = [...new Set(keys)].sort();
    if (first === undefined) return await work();
    return await this.take(first, label, signal, () => this.takeAll(others, label, signal, work));
  }

  /** What runs now, for people. */
  list(): Turn[] {
    return [...this.#lines].map(([key, line]) => ({
      key,
      running: line.label,
      waiting: line.waiting.length,
    }));
  }

  #wait(key: string, label: string, signal: AbortSignal): Promise<void> {
    const line = this.#lines.get(key);
    if (line === undefined) {
      this.#lines.set(key, { label, waiting: [] });
      return Promise.resolve();
    }
    if (line.waiting.length >= MAX_WAITING) throw tooManyWaiting();
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        label,
        start: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      const leave = () => {
        line.waiting.splice(line.waiting.indexOf(waiter), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', leave, { once: true });
      line.waiting.push(waiter);
    });
  }

  #next(key: string): void {
    const line = this.#lines.get(key) as Line;
    const next = line.waiting.shift();
    if (next === undefined) {
      this.#lines.delete(key);
      return;
    }
    line.label = next.label;
    next.start();
  }
}
