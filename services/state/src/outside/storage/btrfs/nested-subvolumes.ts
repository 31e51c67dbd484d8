import { lstat, readdir, realpath, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { storageRefused } from '../../../failures.ts';
import { renameDurably } from './exchange.ts';
import type { Subvolumes } from './subvolumes.ts';

/**
 * Subvolumes that lie in another one. A snapshot has an empty folder in their place, so they are no part of states, and they
 * move along when what they lie in is replaced.
 */
export class NestedSubvolumes {
  readonly #subvolumes: Subvolumes;

  constructor(subvolumes: Subvolumes) {
    this.#subvolumes = subvolumes;
  }

  /** Their paths below the one they are in. */
  async of(path: string): Promise<readonly string[]> {
    const listed = await this.#subvolumes.listIn(path);
    return listed.map((each) => each.path.slice(path.length + 1));
  }

  /**
   * Those that move when a subvolume is replaced by a copy of a snapshot.
   * @throws FAILED_PRECONDITION when one could not: they are never lost
   */
  async movable(live: string, saved: string): Promise<readonly string[]> {
    const nested = await this.of(live);
    for (const below of nested) {
      const shown = await this.#subvolumes.show(`${live}/${below}`);
      if (shown === undefined) throw inTheWay(live, below, 'its name cannot be read');
      if (shown.readOnly) throw inTheWay(live, below, 'it is read-only and cannot be moved');
      await this.#checkRoomFor(live, saved, below);
    }
    return nested;
  }

  /** Moves those that are not where they belong yet. */
  async move(nested: readonly string[], from: string, to: string): Promise<void> {
    for (const below of nested) {
      if (!(await this.#subvolumes.isThere(`${from}/${below}`))) continue;
      await this.#checkRoomFor(from, to, below);
      const place = this.#subvolumes.at(`${to}/${below}`);
      await rmdir(place).catch(() => {});
      await renameDurably(this.#subvolumes.at(`${from}/${below}`), place);
    }
  }

  /** There is a folder for it, which no link leads out of, and nothing where it is to lie. */
  async #checkRoomFor(live: string, into: string, below: string): Promise<void> {
    const parent = this.#subvolumes.at(dirname(`${into}/${below}`));
    const place = this.#subvolumes.at(`${into}/${below}`);
    const real = await realpath(parent).catch(() => undefined);
    if (real !== (await realpath(this.#subvolumes.root)) + parent.slice(this.#subvolumes.root.length))
      throw inTheWay(live, below, 'the state has no folder for it');
    const stat = await lstat(place).catch(() => undefined);
    const isFree = stat === undefined || (stat.isDirectory() && (await readdir(place)).length === 0);
    if (!isFree) throw inTheWay(live, below, 'the state has something else in its place');
  }
}

function inTheWay(live: string, below: string, why: string): Error {
  return storageRefused(
    `${live} cannot be replaced`,
    `the subvolume ${below} in it would be lost: ${why}. Move it elsewhere, then repeat the call`,
  );
}
