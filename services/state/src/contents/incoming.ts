import { importGaveWay } from '../failures-extras.ts';

/**
 * The import that comes in, of which there is one at a time. What it has written so far may be the space that a save was promised, and
 * its sender may say nothing for a while: then the save, which holds the machine, comes first.
 */
export class Incoming {
  #current: { readonly way: AbortController; readonly over: Promise<void> } | undefined;

  /** @param work ends with its signal, and has undone what it wrote when it throws */
  async take<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const way = new AbortController();
    const { promise: over, resolve } = Promise.withResolvers<void>();
    this.#current = { way, over };
    try {
      return await work(AbortSignal.any([signal, way.signal]));
    } finally {
      this.#current = undefined;
      resolve();
    }
  }

  get isOpen(): boolean {
    return this.#current !== undefined;
  }

  /** Ends the import, if there is one, for whoever has the turn of the machine; nothing is left of it then. */
  async giveWay(): Promise<void> {
    const current = this.#current;
    current?.way.abort(importGaveWay());
    await current?.over;
  }
}
