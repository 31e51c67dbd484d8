import { readdir, readlink } from 'node:fs/promises';
import type { Entry } from '../../model/entry.ts';
import { pathText } from '../../model/path-text.ts';
import { closedMount, entryOf, MAX_FOLDER_PATH } from './entry-of.ts';
import { foreignAmong, mountsBelow } from './foreign-mounts.ts';
import {
  bytesOf,
  close,
  errorCode,
  fstat,
  lstat,
  mountOf,
  open,
  READ_FOLDER,
  type Stat,
} from './vault/files.ts';

/** So many entries are handed on at a time. */
const BATCH = 500;
/** So many names of a folder are looked up at once. */
const AHEAD = 64;

/** What a walk needs to know besides where it begins. */
export interface WalkOptions {
  /** A folder that is not looked into, by device and inode. */
  readonly leaveOut?: { readonly dev: bigint; readonly ino: bigint };
}

/** A folder that is being read. */
interface Level {
  readonly fd: number;
  readonly inside: string;
  readonly text: string;
  readonly names: readonly string[];
  next: number;
  /** Facts of the names before `next`, not yet used. */
  ahead: Found[];
}

/** Something in a folder; its entry, and whether there is more in it. */
interface Found {
  readonly name: string;
  readonly text: string;
  readonly entry: Entry | undefined;
  readonly stat: Stat | undefined;
}

/** One walk over a folder, in the order of `comparePaths`. */
export class TreeWalk {
  readonly #root: string;
  readonly #options: WalkOptions;
  readonly #signal: AbortSignal;
  readonly #levels: Level[] = [];
  #batch: Entry[] = [];
  #device = 0n;
  #mount: string | undefined;
  #foreign: ReadonlySet<string> = new Set();

  constructor(root: string, options: WalkOptions, signal: AbortSignal) {
    this.#root = root;
    this.#options = options;
    this.#signal = signal;
  }

  async *run(): AsyncGenerator<readonly Entry[]> {
    try {
      this.#foreign = foreignAmong(await mountsBelow(this.#root));
      const stat = await lstat(bytesOf(this.#root));
      this.#device = stat.dev;
      await this.#enter(this.#root, '.', stat);
      for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) {
        this.#signal.throwIfAborted();
        await this.#step(level);
        if (this.#batch.length < BATCH) continue;
        yield this.#batch;
        this.#batch = [];
      }
      yield this.#batch;
    } finally {
      for (const { fd } of this.#levels.splice(0)) await close(fd);
    }
  }

  async #step(level: Level): Promise<void> {
    if (level.ahead.length === 0) await this.#lookAhead(level);
    const found = level.ahead.shift();
    if (found === undefined) {
      this.#levels.pop();
      await close(level.fd);
      return;
    }
    const { name, text, entry, stat } = found;
    if (entry === undefined) return;
    const isOpened =
      stat?.isDirectory() === true && entry.leftOut === undefined && entry.unreadable === undefined;
    if (isOpened) await this.#enter(`${level.inside}/${name}`, text, stat);
    else this.#batch.push(entry);
  }

  /** Opens a folder and hands on its own entry; what cannot be opened has nothing in it and says why. */
  async #enter(at: string, text: string, seen: Stat): Promise<void> {
    let fd: number | undefined;
    try {
      fd = await open(bytesOf(at), READ_FOLDER);
      const stat = await fstat(fd);
      const leftOut = this.#leftOut(stat, fd);
      if (leftOut !== undefined) {
        this.#batch.push(entryOf(text, stat, { leftOut }));
        return;
      }
      const inside = process.platform === 'linux' ? `/proc/self/fd/${fd}` : at;
      const names = (await readdir(inside, { encoding: 'latin1' })).sort();
      const level: Level = { fd, inside, text, names, next: 0, ahead: [] };
      // A folder that may be listed and not entered shows its names and nothing of what they are.
      await this.#lookAhead(level);
      this.#batch.push(entryOf(text, stat, {}));
      this.#levels.push(level);
      fd = undefined;
    } catch (error) {
      const code = errorCode(error);
      if (code === undefined) throw error;
      this.#batch.push(entryOf(text, seen, { unreadable: code }));
    } finally {
      if (fd !== undefined) await close(fd);
    }
  }

  async #lookAhead(level: Level): Promise<void> {
    const names = level.names.slice(level.next, level.next + AHEAD);
    level.next += names.length;
    const { inside, text: folder } = level;
    level.ahead = await Promise.all(
      names.map((name) =>
        this.#look(inside, name, folder === '.' ? pathText(name) : `${folder}/${pathText(name)}`),
      ),
    );
  }

  async #look(inside: string, name: string, text: string): Promise<Found> {
    if (this.#foreign.has(text)) return { name, text, entry: closedMount(text), stat: undefined };
    const at = bytesOf(`${inside}/${name}`);
    let stat: Stat;
    try {
      stat = await lstat(at);
    } catch (error) {
      // Listed a moment ago and gone now.
      if (errorCode(error) === 'ENOENT') return { name, text, entry: undefined, stat: undefined };
      if (errorCode(error) === 'EACCES' && process.geteuid?.() === 0)
        return { name, text, entry: closedMount(text), stat: undefined };
      throw error;
    }
    return { name, text, entry: entryOf(text, stat, await this.#more(at, text, stat)), stat };
  }

  async #more(at: Buffer, text: string, stat: Stat): Promise<Partial<Entry>> {
    if (stat.isFile()) return { size: Number(stat.size) };
    if (stat.isBlockDevice() || stat.isCharacterDevice()) return { rdev: String(stat.rdev) };
    if (stat.isDirectory()) {
      const leftOut = this.#leftOut(stat);
      if (leftOut !== undefined) return { leftOut };
      return text.length > MAX_FOLDER_PATH ? { unreadable: 'ENAMETOOLONG' } : {};
    }
    if (!stat.isSymbolicLink()) return {};
    try {
      return { target: pathText((await readlink(at, { encoding: 'latin1' })) as string) };
    } catch (error) {
      return { unreadable: errorCode(error) ?? 'EIO' };
    }
  }

  /** @param fd of the folder, when it is open: only then a mount of the same file system can be told from a folder */
  #leftOut(stat: Stat, fd?: number): 'storage' | 'mount' | undefined {
    const { leaveOut } = this.#options;
    if (stat.dev === leaveOut?.dev && stat.ino === leaveOut.ino) return 'storage';
    const mount = fd === undefined ? this.#mount : mountOf(fd);
    this.#mount ??= mount;
    return stat.dev === this.#device && mount === this.#mount ? undefined : 'mount';
  }
}
