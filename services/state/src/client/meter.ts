import type { Writable } from 'node:stream';

const EVERY_MS = 200;
const CLEAR = '\r\u001b[K';

/** Standard error when somebody looks at it. */
export type Terminal = Writable & { readonly columns?: number };

/** How far something is, on a terminal only: one line that is written again and again. */
export class Meter {
  readonly #terminal: Terminal | undefined;
  #shownAt = 0;

  constructor(terminal: Terminal | undefined) {
    this.#terminal = terminal;
  }

  get isSeen(): boolean {
    return this.#terminal !== undefined;
  }

  /** Takes no time when it was asked a moment ago or nobody looks. */
  show(howFar: () => string): void {
    const now = performance.now();
    if (this.#terminal === undefined || now - this.#shownAt < EVERY_MS) return;
    this.#shownAt = now;
    // A line that wraps could not be written over.
    this.#terminal.write(`\r${howFar().slice(0, (this.#terminal.columns || 80) - 1)}\u001b[K`);
  }

  /** Before anything else is written. */
  clear(): void {
    if (this.#shownAt > 0) this.#terminal?.write(CLEAR);
    this.#shownAt = 0;
  }
}
