import { bytesOf, close, errorCode, fstat, open, READ, type Stat } from '../files.ts';
import type { Additions } from './additions.ts';
import type { AttributeReader, Attributes, AttributesRead } from './attributes.ts';
import type { Content } from './copy-content.ts';
import { keyOf, type StatCache } from './stat-cache.ts';

/**
 * Files that are hardly anything but a hole cost nothing to make and, by their length, hours to read: of one tree so many
 * bytes of them are read.
 */
const HOLLOW_BYTES = 4n * 1024n ** 3n;
/** By this factor a file's length exceeds what it takes on the disk. Compression by the file system does not come near. */
const HOLLOW_FACTOR = 64n;

/** So many times a file that changes under our hands is read. */
const ATTEMPTS = 3;

/** Writing to the storage failed, which ends the capture, as opposed to a file that cannot be read. */
export class StoreFailed extends Error {
  override readonly name = 'StoreFailed';

  constructor(cause: unknown) {
    super('the storage cannot be written to', { cause });
  }
}

/** Why a file has no content. */
interface Unreadable {
  readonly error: unknown;
}

/** What reading a file came to. */
export type FileContent =
  | Unreadable
  | (Content & {
      readonly stat: Stat;
      readonly torn: boolean;
      readonly attributes?: Attributes;
      /** They could not be read. */
      readonly bare?: true;
    });

/** Reads files into the store, those with several names once. */
export class FileReader {
  readonly #additions: Additions;
  readonly #cache: StatCache;
  readonly #attributes: AttributeReader;
  readonly #linked = new Map<string, FileContent | Promise<FileContent>>();
  #hollow = 0n;

  constructor(additions: Additions, cache: StatCache, attributes: AttributeReader) {
    this.#additions = additions;
    this.#cache = cache;
    this.#attributes = attributes;
  }

  /**
   * The content of a file, read again while it changes; without a promise when it is remembered. Failures of the file are answered;
   * those of the store are thrown.
   */
  read(at: string, seen: Stat): FileContent | Promise<FileContent> {
    const inode = inodeOf(seen);
    const reading = inode === undefined ? undefined : this.#linked.get(inode);
    if (reading !== undefined) return reading;
    const content = this.#remembered(seen) ?? this.#read(at);
    if (inode !== undefined) this.#linked.set(inode, content);
    return content;
  }

  #remembered(seen: Stat): FileContent | undefined {
    const known = this.#cache.find(seen);
    return known && { ...known, size: Number(seen.size), stat: seen, torn: false };
  }

  async #read(at: string): Promise<FileContent> {
    let fd: number;
    try {
      fd = await open(bytesOf(at), READ);
    } catch (error) {
      return { error };
    }
    try {
      return await this.#readOpen(fd, at);
    } finally {
      await close(fd);
    }
  }

  async #readOpen(fd: number, at: string): Promise<FileContent> {
    let before = await fstat(fd);
    // Somebody put another thing under the name between looking and opening.
    if (!before.isFile()) return { error: replaced() };
    for (let attempt = 1; ; attempt++) {
      if (isHollow(before) && (this.#hollow += before.size) > HOLLOW_BYTES) return { error: tooHollow() };
      const content = await this.#put(fd, before);
      if ('error' in content) return content;
      const read = await this.#attributes.read(at, before.uid);
      const after = await fstat(fd);
      const steady = keyOf(before) === keyOf(after);
      const found = read !== undefined && 'attributes' in read ? read.attributes : undefined;
      const attributes = found === undefined || Object.keys(found).length === 0 ? {} : { attributes: found };
      // Of a file whose attributes nobody could read it is not remembered that it had none.
      if (steady && found !== undefined) this.#cache.add(after, { ...content, ...attributes });
      if (steady) return { ...content, ...attributes, ...bareness(read), stat: after, torn: false };
      if (attempt === ATTEMPTS)
        return { ...content, ...(read === undefined ? {} : { bare: true }), stat: after, torn: true };
      before = after;
    }
  }

  async #put(fd: number, stat: Stat): Promise<Content | Unreadable> {
    try {
      return await this.#additions.put(fd, isSparse(stat), Number(stat.size));
    } catch (error) {
      if (errorCode(error) === undefined) throw error;
      // The store is only written to while a file is put into it, so reading is always reading the source.
      if ((error as NodeJS.ErrnoException).syscall === 'read') return { error };
      throw new StoreFailed(error);
    }
  }
}

function bareness(read: AttributesRead | undefined): { bare?: true } {
  return read !== undefined && 'code' in read ? { bare: true } : {};
}

/** What files with several names have in common; undefined for a file with one. */
export function inodeOf(stat: Stat): string | undefined {
  return stat.nlink > 1n ? `${stat.dev}:${stat.ino}` : undefined;
}

/** Fewer blocks than its length needs; files under a block may lie in the inode and have none. */
export function isSparse(stat: Stat): boolean {
  return stat.size >= 4096n && stat.blocks * 512n < stat.size;
}

function isHollow(stat: Stat): boolean {
  return stat.blocks * 512n * HOLLOW_FACTOR < stat.size;
}

function replaced(): Error {
  return Object.assign(new Error('it was replaced while it was opened'), { errno: 0, code: 'ESTALE' });
}

function tooHollow(): Error {
  return Object.assign(new Error('it is hardly anything but a hole'), { errno: 0, code: 'EFBIG' });
}
