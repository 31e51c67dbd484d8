import { setImmediate } from 'node:timers/promises';

/** Folders read at the same time, and entries of each. The thread pool has four threads; more only fills its queue. */
const FOLDERS = 4;
const ENTRIES = 8;

/** What needs no waiting goes on for so long before others get their turn. */
const SLICE_MS = 5;

/** A piece of work; `drop` gives back what it holds when it will not run. */
interface Task {
  readonly run: () => Promise<void>;
  readonly drop: () => Promise<void>;
}

/** Runs tasks that make more tasks, a bounded number at a time, newest first, so that a tree is gone through depth first. */
export class Workers {
  readonly #signal: AbortSignal;
  readonly #waiting: Task[] = [];
  readonly #finished: PromiseWithResolvers<void> = Promise.withResolvers();
  #running = 0;
  #sliceEnd = 0;
  #turning: Promise<void> | undefined;
  #failed = false;
  #error: unknown;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  add(run: () => Promise<void>, drop: () => Promise<void> = async () => {}): void {
    this.#waiting.push({ run, drop });
    if (this.#running < FOLDERS) void this.#work();
  }

  /** Ends when every task has; then throws the first failure, if any. */
  async done(): Promise<void> {
    await this.#finished.promise;
    if (this.#failed) throw this.#error;
  }

  /**
   * Does something with each item, some at a time; after a failure nothing new begins, and what runs is waited for.
   * @param use returns nothing when it had nothing to wait for
   */
  async each<T>(
    items: readonly T[],
    use: (item: T, position: number) => Promise<void> | undefined,
  ): Promise<void> {
    let next = 0;
    const lane = async () => {
      while (next < items.length) {
        if (this.#failed) return;
        this.#signal.throwIfAborted();
        if (performance.now() >= this.#sliceEnd) {
          await this.#turn();
          continue;
        }
        const position = next++;
        try {
          const done = use(items[position] as T, position);
          if (done !== undefined) await done;
        } catch (error) {
          next = items.length;
          throw error;
        }
      }
    };
    const lanes = await Promise.allSettled(Array.from({ length: Math.min(ENTRIES, items.length) }, lane));
    for (const result of lanes) if (result.status === 'rejected') throw result.reason;
  }

  /** Lets the event loop turn, which nobody who waits for nothing does by himself. */
  #turn(): Promise<void> {
    this.#turning ??= setImmediate().then(() => {
      this.#turning = undefined;
      this.#sliceEnd = performance.now() + SLICE_MS;
    });
    return this.#turning;
  }

  async #work(): Promise<void> {
    this.#running++;
    for (let task = this.#waiting.pop(); task !== undefined; task = this.#waiting.pop()) {
      try {
        await (this.#failed ? task.drop() : task.run());
      } catch (error) {
        if (!this.#failed) this.#error = error;
        this.#failed = true;
      }
    }
    if (--this.#running === 0) this.#finished.resolve();
  }
}
