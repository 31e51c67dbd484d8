import { lstat, readdir, rmdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { storageRefused } from '../../../failures.ts';
import { pathText } from '../../../model/path-text.ts';
import { openFolder } from '../open-folder.ts';
import { close, errorCode } from '../vault/files.ts';
import { renameDurably } from './exchange.ts';
import { isSubvolume, type Subvolumes } from './subvolumes.ts';

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
      await this.#in(saved, below, (place) => checkRoomFor(live, below, place));
    }
    return nested;
  }

  /**
   * Moves those that are not where they belong yet. Both may be homes, whose users put links into the place of folders meanwhile.
   * @throws FAILED_PRECONDITION when one cannot be
   */
  async move(nested: readonly string[], from: string, to: string): Promise<void> {
    for (const below of nested)
      await this.#in(from, below, async (source, code) => {
        if (code === 'ENOENT') return;
        if (source === undefined) throw inTheWay(from, below, 'its folder cannot be reached');
        if (!(await isSubvolume(source))) return;
        await this.#in(to, below, async (found) => {
          const place = await checkRoomFor(from, below, found);
          await rmdir(place).catch(() => {});
          await renameDurably(source, place);
        });
      });
  }

  /**
   * Does something with the place of one while the folder it lies in is open, which no link leads to.
   * @param work takes a path through that folder, or why the folder cannot be opened so
   */
  async #in(
    subvolume: string,
    below: string,
    work: (place: string | undefined, code: string | undefined) => Promise<unknown>,
  ): Promise<void> {
    const root = Buffer.from(this.#subvolumes.at(subvolume)).toString('latin1');
    const parent = pathText(Buffer.from(dirname(below)).toString('latin1'));
    let fd: number;
    try {
      fd = await openFolder(root, parent);
    } catch (error) {
      const code = errorCode(error);
      if (code === undefined) throw error;
      return void (await work(undefined, code));
    }
    try {
      await work(`/proc/self/fd/${fd}/${basename(below)}`, undefined);
    } finally {
      await close(fd);
    }
  }
}

/** @returns the place, where there is nothing, or a folder with nothing in it */
async function checkRoomFor(live: string, below: string, place: string | undefined): Promise<string> {
  if (place === undefined) throw inTheWay(live, below, 'the state has no folder for it');
  const stat = await lstat(place).catch(() => undefined);
  const isFree = stat === undefined || (stat.isDirectory() && (await readdir(place)).length === 0);
  if (!isFree) throw inTheWay(live, below, 'the state has something else in its place');
  return place;
}

function inTheWay(live: string, below: string, why: string): Error {
  return storageRefused(
    `${live} cannot be replaced`,
    `the subvolume ${below} in it would be lost: ${why}. Move it elsewhere, then repeat the call`,
  );
}
