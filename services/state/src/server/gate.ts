import type { Failure } from '@croft/failure';
import { daemonStopping } from '../failures.ts';

/** Counts calls in flight; once closing it lets nobody in, waits for those inside, and ends them when they take too long. */
export class Gate {
  readonly #inside = new Set<AbortController>();
  readonly #endless = new Set<AbortController>();
  #closing = false;
  #empty: (() => void) | undefined;

  /**
   * Lets a call in, with a controller to end it by.
   * @param endless it goes on until somebody ends it
   * @throws UNAVAILABLE when closing
   */
  enter({ endless }: { endless: boolean }): AbortController {
    if (this.#closing) throw daemonStopping();
    const controller = new AbortController();
    this.#inside.add(controller);
    if (endless) this.#endless.add(controller);
    return controller;
  }

  leave(controller: AbortController): void {
    this.#inside.delete(controller);
    this.#endless.delete(controller);
    if (this.#inside.size === 0) this.#empty?.();
  }

  /** From now on every call is refused, and those that have no end of their own are ended. */
  refuse(): void {
    this.#closing = true;
    for (const controller of this.#endless) controller.abort(daemonStopping());
  }

  /** @returns whether everybody left in time */
  async wait(milliseconds: number): Promise<boolean> {
    if (this.#inside.size === 0) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), milliseconds);
    this.#empty = () => resolve(true);
    return promise.finally(() => clearTimeout(timer));
  }

  /** Ends the calls inside; each undoes what it began. */
  end(reason: Failure): void {
    for (const controller of this.#inside) controller.abort(reason);
  }
}
