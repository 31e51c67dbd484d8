import { randomBytes } from 'node:crypto';
import { readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { pathText } from '../../../../model/path-text.ts';
import { foreignAmong, mountsBelow } from '../../foreign-mounts.ts';
import { bytesOf, close, fstat, lstat, mountOf, open, READ_FOLDER, type Stat } from '../files.ts';

/** So many folders are held open at most. What lies deeper is moved up first: a tree may have thousands of levels. */
const MAX_LEVELS = 200;

const MAX_PASSES = 10_000;

/**
 * Deletes what is in a folder, not the folder. Links are deleted and never followed; other mounts are left alone: each folder
 * is opened without following links, and its entries are looked up through the open descriptor, so that swapping a folder for
 * a link changes nothing.
 * @param root as latin1 bytes
 * @param isMeant whether the folder that was opened is the one; what was put in its place is left alone
 * @returns what is left, one line each
 */
export async function emptyFolder(
  root: string,
  isMeant: (folder: Stat) => boolean = () => true,
): Promise<string[]> {
  const fd = await open(bytesOf(root), READ_FOLDER);
  try {
    const stat = await fstat(fd);
    if (!isMeant(stat)) return [`${pathText(root)} is another folder by now and was left alone`];
    const foreign = new Set(
      [...foreignAmong(await mountsBelow(root))].map((path) => `${pathText(root)}/${path}`),
    );
    for (let pass = 1; ; pass++) {
      const run = new Emptying(fd, stat.dev, foreign);
      await run.folder(fd, pathText(root), 0);
      // Somebody may make folders faster than they are deleted.
      if (run.movedUp === 0 || pass === MAX_PASSES) return run.left;
    }
  } finally {
    await close(fd);
  }
}

/** One pass over a folder. */
class Emptying {
  readonly left: string[] = [];
  movedUp = 0;
  readonly #root: number;
  readonly #device: bigint;
  readonly #foreign: ReadonlySet<string>;
  readonly #mount: string | undefined;

  constructor(root: number, device: bigint, foreign: ReadonlySet<string>) {
    this.#root = root;
    this.#device = device;
    this.#foreign = foreign;
    this.#mount = mountOf(root);
  }

  async folder(fd: number, text: string, level: number): Promise<void> {
    const here = `/proc/self/fd/${fd}`;
    for (const name of await readdir(here, { encoding: 'latin1' })) {
      const [at, shown] = [bytesOf(`${here}/${name}`), `${text}/${pathText(name)}`];
      if (this.#foreign.has(shown)) {
        this.#leave(shown);
        continue;
      }
      try {
        const stat = await lstat(at);
        if (!stat.isDirectory()) await unlink(at);
        else if (stat.dev !== this.#device) this.#leave(shown);
        else if (level === MAX_LEVELS) await this.#moveUp(at);
        else if (await this.#below(at, shown, level + 1)) await rmdir(at);
      } catch (error) {
        const code = (error as NodeJS.ErrnoException).code ?? String(error);
        // A folder that keeps something says so itself.
        if (code !== 'ENOTEMPTY' && code !== 'ENOENT')
          this.left.push(`${shown} could not be removed (${code})`);
      }
    }
  }

  /** @returns false when it is left alone */
  async #below(at: Buffer, text: string, level: number): Promise<boolean> {
    const fd = await open(at, READ_FOLDER);
    try {
      // Only an open folder tells its mount; and somebody may have put something else in its place since we looked.
      const isOurs = (await fstat(fd)).dev === this.#device && mountOf(fd) === this.#mount;
      if (isOurs) await this.folder(fd, text, level);
      else this.#leave(text);
      return isOurs;
    } finally {
      await close(fd);
    }
  }

  /** For the next pass. */
  async #moveUp(at: Buffer): Promise<void> {
    await rename(at, `/proc/self/fd/${this.#root}/.croft-${randomBytes(8).toString('hex')}`);
    this.movedUp++;
  }

  #leave(text: string): void {
    this.left.push(`${text} is another file system and was left alone`);
  }
}
