import { badImport } from '../../../failures-extras.ts';
import type { Entry } from '../../../model/entry.ts';
import { comparePaths } from '../../../model/path-order.ts';
import { pathBytes } from '../../../model/path-text.ts';
import { isInPlace } from '../../../rules/contents/entry-place.ts';
import { readExportedEntry } from '../../../rules/contents/exported-entry.ts';
import { MAX_FOLDER_PATH } from '../entry-of.ts';

/** A line of a manifest; the longest path in it is far shorter. */
const MAX_LINE_BYTES = 64 * 1024;
/** Of all lists of one import together: larger than any system, and what they name is kept in memory. */
export const MAX_ENTRIES = 2_000_000;
/** No file system has longer names. */
const MAX_NAME_BYTES = 255;

/** Content that entries name. */
export interface Wanted {
  readonly size: number;
  /** Holes need no place on the disk. */
  readonly sparse: boolean;
  /** So many files have it, each with any number of names. */
  readonly files: number;
}

/** What all manifests of an import name, filled on the way. */
export class Inventory {
  readonly wanted = new Map<string, Wanted>();
  readonly #stored = new Map<string, number>();
  #entries = 0;

  get entries(): number {
    return this.#entries;
  }

  /** @throws INVALID_ARGUMENT */
  countEntry(): void {
    if (++this.#entries > MAX_ENTRIES) throw badImport(`it has more than ${MAX_ENTRIES} entries`);
  }

  /** So many bytes of a content with holes are none. */
  addStored(hash: string, bytes: number): void {
    this.#stored.set(hash, (this.#stored.get(hash) ?? 0) + bytes);
  }

  /** Bytes that a content takes, when it has come in. */
  storedOf(hash: string): number {
    const { size = 0, sparse } = this.wanted.get(hash) ?? {};
    return sparse ? Math.min(size, this.#stored.get(hash) ?? 0) : size;
  }

  /** @throws INVALID_ARGUMENT */
  want(hash: string, { size, sparse, files }: Wanted): void {
    const known = this.wanted.get(hash) ?? { size, sparse, files: 0 };
    if (known.size !== size) throw badImport(`the content ${hash} has two sizes`);
    this.wanted.set(hash, { size, sparse: known.sparse && sparse, files: known.files + files });
  }
}

/** What a manifest adds up to. */
export interface Counted {
  entries: number;
  bytes: number;
  unreadable: number;
  torn: number;
}

/** Checks a manifest from a stranger while it comes in: each line an entry, in order, in its place, and at one with the others. */
export class ReceivedManifest {
  readonly counted: Counted = { entries: 0, bytes: 0, unreadable: 0, torn: 0 };
  readonly #inventory: Inventory;
  /** Those that the last entry lies in, and itself: what comes next lies in one of them. */
  readonly #folders = new Set<string>();
  readonly #way: string[] = [];
  readonly #inodes = new Map<string, string | undefined>();
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #rest = '';
  #last: string | undefined;

  constructor(inventory: Inventory) {
    this.#inventory = inventory;
  }

  /** @throws INVALID_ARGUMENT */
  add(bytes: Buffer): void {
    const lines = (this.#rest + this.#text(bytes)).split('\n');
    this.#rest = lines.pop() as string;
    for (const line of lines) this.#entry(readExportedEntry(line));
    if (this.#rest.length > MAX_LINE_BYTES) throw badImport('a line of a list of files is too long');
  }

  /** @throws INVALID_ARGUMENT */
  end(): void {
    this.#text();
    if (this.#rest !== '' || this.#last === undefined) throw badImport('a list of files is not whole');
  }

  #text(bytes?: Buffer): string {
    try {
      return this.#decoder.decode(bytes, { stream: bytes !== undefined });
    } catch {
      throw badImport('a list of files is no UTF-8');
    }
  }

  #entry(entry: Entry): void {
    const { path, type, hash, size, inode, sparse } = entry;
    const isFirst = this.#last === undefined;
    const follows = isFirst ? path === '.' : comparePaths(this.#last as string, path) < 0;
    if (!follows || !isInPlace(entry, this.#folders))
      throw badImport(`the entry ${JSON.stringify(path.slice(0, 200))} is not where it may be`);
    if (isTooLong(path)) throw badImport(`the path ${JSON.stringify(path.slice(0, 200))}… is too long`);
    this.#last = path;
    this.#leaveFolders(path);
    if (type === 'folder') {
      this.#folders.add(path);
      this.#way.push(path);
    }
    const isNamed = inode !== undefined && this.#inodes.has(inode);
    if (inode !== undefined) {
      if (isNamed && this.#inodes.get(inode) !== hash)
        throw badImport(`the file ${JSON.stringify(path.slice(0, 200))} has two contents`);
      this.#inodes.set(inode, hash);
    }
    if (hash !== undefined && size !== undefined)
      this.#inventory.want(hash, { size, sparse: sparse === true, files: isNamed ? 0 : 1 });
    this.counted.bytes += size ?? 0;
    if (entry.unreadable !== undefined) this.counted.unreadable++;
    if (entry.torn === true) this.counted.torn++;
    this.counted.entries++;
    this.#inventory.countEntry();
  }

  /** Entries come folder by folder, so nothing follows in one that was left. */
  #leaveFolders(path: string): void {
    for (let last = this.#way.at(-1); last !== undefined; last = this.#way.at(-1)) {
      if (last === '.' || path.startsWith(`${last}/`)) return;
      this.#folders.delete(last);
      this.#way.pop();
    }
  }
}

/** A save has no such path: folders that are too deep are not looked into. */
function isTooLong(path: string): boolean {
  const slash = path.lastIndexOf('/');
  return slash > MAX_FOLDER_PATH || pathBytes(path.slice(slash + 1)).length > MAX_NAME_BYTES;
}
