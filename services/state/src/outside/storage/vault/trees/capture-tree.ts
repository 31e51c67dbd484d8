import { readdir, readlink } from 'node:fs/promises';
import { getHeapStatistics } from 'node:v8';
import { listTooLong } from '../../../../failures.ts';
import type { Entry } from '../../../../model/entry.ts';
import { pathText } from '../../../../model/path-text.ts';
import { sizeText } from '../../../../rules/machines/sizes.ts';
import { closedMount, entryOf, MAX_FOLDER_PATH } from '../../entry-of.ts';
import { foreignAmong, mountsBelow } from '../../foreign-mounts.ts';
import type { Additions } from '../content/additions.ts';
import { AttributeReader } from '../content/attributes.ts';
import { QuickLook } from '../content/quick-look.ts';
import { type FileContent, FileReader, inodeOf, isSparse } from '../content/read-file.ts';
import type { StatCache } from '../content/stat-cache.ts';
import { Workers } from '../content/workers.ts';
import { bytesOf, close, errorCode, fstat, lstat, mountOf, open, READ_FOLDER, type Stat } from '../files.ts';
import type { Tree } from './manifest.ts';

/**
 * The lines of a tree are held until its manifest is stored, and whoever has a home can make as many as he likes, of four thousand
 * characters each: beyond that the daemon would end for want of memory, at this save and at each one after it.
 */
const MAX_LIST_BYTES = getHeapStatistics().heap_size_limit / 2;

/** What capturing a tree needs. */
interface Capture {
  /** The tree's folder, as latin1 bytes. */
  readonly root: string;
  /** A folder whose content is never saved, by device and inode: where states are kept. */
  readonly leaveOut: { readonly dev: bigint; readonly ino: bigint };
  readonly additions: Additions;
  readonly cache: StatCache;
  readonly signal: AbortSignal;
  /** Counts what was seen, for whoever looks meanwhile. */
  readonly seen?: Seen;
  /** What its lines may take of the memory; a tree with more is refused. */
  readonly maxListBytes?: number;
}

/** What of a tree was seen so far. */
interface Seen {
  entries: number;
  /** What the files among them hold. */
  bytes: number;
}

/** A captured tree and what could not be captured as it should. */
export interface Captured {
  readonly tree: Tree;
  readonly entries: number;
  readonly bytes: number;
  /** Path texts, and why. */
  readonly unreadable: readonly { readonly path: string; readonly code: string }[];
  /** Path texts. */
  readonly torn: readonly string[];
  readonly mounts: readonly string[];
  /** Path texts of what was saved without its extended attributes. */
  readonly bare: readonly string[];
}

/**
 * Reads a tree into manifest lines and stores its files. Links are never followed: each folder is opened without following,
 * and its entries are looked up through the open descriptor, so that swapping a folder for a link changes nothing.
 * What cannot be read is listed, never left out in silence; only failures of the storage itself, and a list that does not fit into
 * the memory, end the capture.
 * @throws `list_too_long`
 */
export async function captureTree(capture: Capture): Promise<Captured> {
  const mounts = await mountsBelow(capture.root);
  const quick = await QuickLook.open(capture.root, mounts);
  return new TreeCapture(capture, quick, foreignAmong(mounts)).run();
}

/** What stands in the tree for a name. */
type Item = Tree['items'][number];

/** Something in a folder, and what is known of the folder. */
interface Place {
  /** As latin1 bytes, through the open folder. */
  readonly at: string;
  readonly text: string;
  /** The system is asked without waiting. */
  readonly isQuick: boolean;
  readonly descend: (stat: Stat, tree: Tree) => void;
}

class TreeCapture {
  readonly #capture: Capture;
  readonly #seen: Seen;
  readonly #quick: QuickLook;
  readonly #foreign: ReadonlySet<string>;
  readonly #workers: Workers;
  readonly #reader: FileReader;
  readonly #unreadable: { path: string; code: string }[] = [];
  readonly #torn: string[] = [];
  readonly #mounts: string[] = [];
  readonly #bare: string[] = [];
  readonly #attributes = new AttributeReader();
  #device = 0n;
  #mount: string | undefined;
  #listBytes = 0;

  constructor(capture: Capture, quick: QuickLook, foreign: ReadonlySet<string>) {
    this.#capture = capture;
    this.#seen = capture.seen ?? { entries: 0, bytes: 0 };
    this.#quick = quick;
    this.#foreign = foreign;
    this.#workers = new Workers(capture.signal);
    this.#reader = new FileReader(capture.additions, capture.cache, this.#attributes);
  }

  async run(): Promise<Captured> {
    const root = this.#capture.root;
    const stat = await lstat(bytesOf(root));
    this.#device = stat.dev;
    const tree: Tree = { line: '', items: [] };
    this.#workers.add(() => this.#folder(root, '.', stat, tree, async () => {}));
    await this.#workers.done();
    return {
      tree,
      entries: this.#seen.entries,
      bytes: this.#seen.bytes,
      unreadable: this.#unreadable.sort((a, b) => (a.path < b.path ? -1 : 1)),
      torn: this.#torn.sort(),
      mounts: this.#mounts.sort(),
      bare: this.#bare.sort(),
    };
  }

  async #folder(at: string, text: string, seen: Stat, tree: Tree, found: () => Promise<void>): Promise<void> {
    let fd: number;
    try {
      fd = await open(bytesOf(at), READ_FOLDER);
    } catch (error) {
      tree.line = this.#line(text, seen, this.#failed(text, error));
      return;
    } finally {
      await found();
    }
    // The descriptor stays open until every folder in this one has been opened through it.
    let users = 1;
    const leave = async () => {
      if (--users === 0) await close(fd);
    };
    try {
      const before = await fstat(fd);
      const leftOut = this.#leftOut(text, before, fd);
      if (leftOut !== undefined) {
        tree.line = this.#line(text, before, { leftOut });
        return;
      }
      const inside = process.platform === 'linux' ? `/proc/self/fd/${fd}` : at;
      const names = (await readdir(inside, { encoding: 'latin1' })).sort();
      tree.items.length = names.length;
      const isQuick = this.#quick.isFor(text);
      await this.#workers.each(names, (name, position) => {
        const childText = text === '.' ? pathText(name) : `${text}/${pathText(name)}`;
        const descend = (stat: Stat, child: Tree) => {
          users++;
          this.#workers.add(() => this.#folder(`${inside}/${name}`, childText, stat, child, leave), leave);
        };
        const item = this.#entry({ at: `${inside}/${name}`, text: childText, isQuick, descend });
        if (!(item instanceof Promise)) tree.items[position] = item;
        else
          return item.then((found) => {
            tree.items[position] = found;
          });
      });
      // Through the descriptor: `.` is no name that anybody could put something under.
      const attributes = await this.#attributesOf(`${inside}/.`, text, before);
      const after = isQuick ? this.#quick.fstat(fd) : await fstat(fd);
      const torn = after.mtimeNs !== before.mtimeNs || before.ino !== seen.ino || before.dev !== seen.dev;
      if (torn) this.#torn.push(text);
      tree.line = this.#line(text, after, { ...attributes, ...(torn ? { torn: true } : {}) });
    } catch (error) {
      tree.line = this.#line(text, seen, this.#failed(text, error));
    } finally {
      await leave();
    }
  }

  /** Without a promise where nothing has to be waited for: of most files of most saves. */
  #entry(place: Place): Item | Promise<Item> {
    if (this.#foreign.has(place.text)) return this.#closedMount(place.text);
    if (!place.isQuick) return this.#entryLater(place);
    let stat: Stat | undefined;
    try {
      stat = this.#quick.lstat(bytesOf(place.at));
    } catch (error) {
      return this.#unknown(place.text, error);
    }
    return stat === undefined ? this.#entryLater(place) : this.#known(place, stat);
  }

  async #entryLater(place: Place): Promise<Item> {
    let stat: Stat;
    try {
      stat = await lstat(bytesOf(place.at));
    } catch (error) {
      return this.#unknown(place.text, error);
    }
    return this.#known(place, stat);
  }

  #unknown(text: string, error: unknown): string | undefined {
    // Listed a moment ago and gone now: the folder's own entry says that it changed.
    if (errorCode(error) === 'ENOENT') return undefined;
    if (errorCode(error) === 'EACCES' && process.geteuid?.() === 0) return this.#closedMount(text);
    throw error;
  }

  #known(place: Place, stat: Stat): Item | Promise<Item> {
    const { at, text } = place;
    if (stat.isFile()) return this.#file(at, text, stat);
    if (stat.isSymbolicLink()) return this.#link(place, stat);
    if (!stat.isDirectory()) {
      const device = stat.isBlockDevice() || stat.isCharacterDevice() ? { rdev: String(stat.rdev) } : {};
      return this.#line(text, stat, device);
    }
    // Asked before opening, because opening can wake an automounter or hang on a dead server, and again after.
    const leftOut = this.#leftOut(text, stat);
    if (leftOut !== undefined) return this.#line(text, stat, { leftOut });
    if (text.length > MAX_FOLDER_PATH) return this.#line(text, stat, this.#failed(text, tooLong()));
    const tree: Tree = { line: '', items: [] };
    place.descend(stat, tree);
    return tree;
  }

  #closedMount(text: string): string {
    this.#mounts.push(text);
    this.#seen.entries++;
    return JSON.stringify(closedMount(text));
  }

  /** @param fd of the folder, when it is open: only then a mount of the same file system can be told from a folder */
  #leftOut(text: string, stat: Stat, fd?: number): 'storage' | 'mount' | undefined {
    const { leaveOut } = this.#capture;
    if (stat.dev === leaveOut.dev && stat.ino === leaveOut.ino) return 'storage';
    const mount = fd === undefined ? this.#mount : mountOf(fd);
    this.#mount ??= mount;
    if (stat.dev === this.#device && mount === this.#mount) return undefined;
    this.#mounts.push(text);
    return 'mount';
  }

  #link({ at, text, isQuick }: Place, stat: Stat): string | Promise<string> {
    const target = (latin1: string) => this.#line(text, stat, { target: pathText(latin1) });
    const failed = (error: unknown) => this.#line(text, stat, this.#failed(text, error));
    if (!isQuick)
      return readlink(bytesOf(at), { encoding: 'latin1' }).then((to) => target(to as string), failed);
    try {
      return target(this.#quick.readlink(bytesOf(at)));
    } catch (error) {
      return failed(error);
    }
  }

  #file(at: string, text: string, stat: Stat): string | Promise<string> {
    const read = this.#reader.read(at, stat);
    if (!(read instanceof Promise)) return this.#fileLine(text, stat, read);
    return read.then((content) => this.#fileLine(text, stat, content));
  }

  #fileLine(text: string, stat: Stat, read: FileContent): string {
    if ('error' in read) return this.#line(text, stat, this.#failed(text, read.error));
    const inode = inodeOf(stat);
    if (read.torn) this.#torn.push(text);
    if (read.bare === true) this.#bare.push(text);
    this.#seen.bytes += read.size;
    return this.#line(text, read.stat, {
      size: read.size,
      hash: read.hash,
      ...(read.attributes === undefined ? {} : { attributes: read.attributes }),
      ...(read.bare === true ? { bare: true } : {}),
      ...(isSparse(read.stat) ? { sparse: true } : {}),
      ...(inode === undefined ? {} : { inode }),
      ...(read.torn ? { torn: true } : {}),
    });
  }

  /** Of a folder; the tree's own has them in any case, which says that they were read. */
  async #attributesOf(at: string, text: string, { uid }: Stat): Promise<Pick<Entry, 'attributes' | 'bare'>> {
    const read = await this.#attributes.read(at, uid);
    if (read === undefined) return {};
    const attributes = 'code' in read ? {} : read.attributes;
    if ('code' in read) this.#bare.push(text);
    return {
      ...(text === '.' || Object.keys(attributes).length > 0 ? { attributes } : {}),
      ...('code' in read ? { bare: true } : {}),
    };
  }

  #failed(text: string, error: unknown): Partial<Entry> {
    const code = errorCode(error);
    if (code === undefined) throw error;
    this.#unreadable.push({ path: text, code });
    return { unreadable: code };
  }

  #line(text: string, stat: Stat, more: Partial<Entry>): string {
    this.#seen.entries++;
    const line = JSON.stringify(entryOf(text, stat, more));
    const { maxListBytes = MAX_LIST_BYTES } = this.#capture;
    this.#listBytes += WIDE.test(line) ? 2 * line.length : line.length;
    if (this.#listBytes > maxListBytes) throw listTooLong(sizeText(maxListBytes));
    return line;
  }
}

/** With any of these a text takes two bytes a character. */
const WIDE = /[^\u0000-\u00ff]/;

function tooLong(): Error {
  return Object.assign(new Error('its path is too long'), { errno: 0, code: 'ENAMETOOLONG' });
}
