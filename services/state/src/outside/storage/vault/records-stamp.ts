import { stat } from 'node:fs/promises';
import { Turns } from '../../../turns.ts';
import { tooYoung } from './content/stat-cache.ts';
import type { Stat } from './files.ts';

const FOREVER = new AbortController().signal;

/**
 * Whether a folder of records is what this daemon read there and wrote: each record is put in place, or removed, so that the folder's
 * change time tells every change, whoever made it. What is not certain is not vouched for.
 */
export class RecordsStamp {
  readonly #folder: string;
  readonly #turns = new Turns();
  /** The stamp of what is known to be there. */
  #known: string | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Around the reading of all that is there, which may be left out where the stamp is that of an earlier reading. */
  async reading<T>(read: (stamp: string | undefined) => Promise<T>): Promise<T> {
    const stamp = await this.#look();
    this.#known = undefined;
    const found = await read(stamp);
    this.#known = stamp;
    return found;
  }

  /**
   * Around each write of ours, one after the other, as what is seen after one is taken for all that happened: one that fails may have
   * happened, and before it others may have written.
   */
  writing(write: () => Promise<void>): Promise<void> {
    return this.#turns.take(this.#folder, 'write', FOREVER, async () => {
      const before = await this.#look();
      const isKnown = before !== undefined && before === this.#known;
      this.#known = undefined;
      await write();
      if (isKnown) this.#known = await this.#look();
    });
  }

  /** While no write of ours is under way: some file systems leave out of a listing what is replaced during it. */
  still<T>(read: () => Promise<T>): Promise<T> {
    return this.#turns.take(this.#folder, 'read', FOREVER, read);
  }

  /** The stamp of what is there, when that is known and every later write changes it. */
  async now(): Promise<string | undefined> {
    const nowMs = Date.now();
    const facts = await this.#facts();
    if (facts === undefined || tooYoung(facts, nowMs)) return undefined;
    return stampOf(facts) === this.#known ? this.#known : undefined;
  }

  async #look(): Promise<string | undefined> {
    const facts = await this.#facts();
    return facts && stampOf(facts);
  }

  /** Through a link, whose own times say nothing. */
  async #facts(): Promise<Stat | undefined> {
    return stat(this.#folder, { bigint: true }).catch(() => undefined);
  }
}

/** Without the device, whose number is another one after a boot. */
function stampOf({ ino, mtimeNs, ctimeNs }: Stat): string {
  return `${ino}:${mtimeNs}:${ctimeNs}`;
}
