import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { readdir, rename, unlink } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { notEnoughSpace } from '../../../../failures.ts';
import { sizeText } from '../../../../rules/machines/sizes.ts';
import { syncFileSystem } from '../../../sync-file-system.ts';
import type { SnapshotRequest } from '../../storage.ts';
import { CREATE, close, datasync, errorCode, open, readFully, writeFully } from '../files.ts';
import { type Content, cloneFile, copyContent, PIECE_BYTES, setLength } from './copy-content.ts';
import type { Objects } from './objects.ts';
import { CHECKED_BYTES, placeStaged } from './staging.ts';

/** More takes more time than space: half of a list of files are hashes, which become half as long and no shorter. */
const LEVEL = 1;

/** So many objects are each waited for; what is more goes to the disk in one go, which takes a fraction of the time. */
const FEW = 64;

/** How much may be written. */
type Room = Pick<SnapshotRequest, 'budget' | 'checkSpace'>;

/**
 * Objects being added by one save. They lie in a folder of its own, by their hashes, until all of them are on the disk; only
 * then they get their names among the others.
 */
export class Additions {
  readonly #objects: Objects;
  readonly #staging: string;
  readonly #room: Room;
  readonly #buffers: Buffer[] = [];
  #files = 0;
  #kept = 0;
  #written = 0;
  #unchecked = 0;
  #canClone = true;

  constructor(objects: Objects, staging: string, room: Room) {
    this.#objects = objects;
    this.#staging = staging;
    this.#room = room;
  }

  /** Bytes that were written so far. */
  get written(): number {
    return this.#written;
  }

  /** A content is among all others already. */
  has(hash: string): Promise<boolean> {
    return this.#objects.has(hash);
  }

  /** Stores what an open file holds now, up to a length: one may grow faster than it is read. */
  async put(fd: number, sparse: boolean, limit: number): Promise<Content> {
    const buffer = this.#buffers.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES);
    try {
      const clone = await this.#clone(fd);
      if (clone !== undefined) return await this.#putClone(clone, buffer, limit);
      if (limit >= buffer.length) return await this.#putLarge(fd, buffer, sparse, limit);
      const piece = buffer.subarray(0, limit);
      return await this.#putSmall(piece.subarray(0, await readFully(fd, piece, 0)));
    } finally {
      this.#buffers.push(buffer);
    }
  }

  /** Stores a text that comes in pieces: compressed, and named by what is stored, as every content. */
  async putText(pieces: Iterable<string>): Promise<Content> {
    const hash = createHash('sha256');
    const bytesOf = function* () {
      for (const piece of pieces) yield Buffer.from(piece);
    };
    return this.#withNewFile(async (path, fd) => {
      let size = 0;
      const compressed = pipeline(Readable.from(bytesOf()), createGzip({ level: LEVEL }), () => {});
      for await (const bytes of compressed) {
        hash.update(bytes);
        await this.#write(fd, bytes, size);
        size += (bytes as Buffer).length;
      }
      return this.#keep(path, fd, { hash: hash.digest('hex'), size });
    });
  }

  /** Puts everything that was added on the disk, and then in its place. */
  async finish(): Promise<void> {
    if (this.#written > 0) await this.#room.checkSpace?.();
    if (this.#kept > FEW && !(await syncFileSystem(this.#staging))) await this.#syncEach();
    await placeStaged(this.#objects, this.#staging);
  }

  async #syncEach(): Promise<void> {
    for (const name of await readdir(this.#staging)) {
      const fd = await open(`${this.#staging}/${name}`, constants.O_RDONLY);
      try {
        await datasync(fd);
      } finally {
        await close(fd);
      }
    }
  }

  async #putSmall(bytes: Buffer): Promise<Content> {
    const content = { hash: createHash('sha256').update(bytes).digest('hex'), size: bytes.length };
    if (await this.#objects.has(content.hash)) return content;
    let fd: number;
    try {
      fd = await open(`${this.#staging}/${content.hash}`, CREATE, 0o600);
    } catch (error) {
      // Another file of this save has the same content.
      if (errorCode(error) === 'EEXIST') return content;
      throw error;
    }
    try {
      await this.#write(fd, bytes, 0);
      await this.#syncIfFew(fd);
    } finally {
      await close(fd);
    }
    return content;
  }

  async #putLarge(source: number, buffer: Buffer, sparse: boolean, limit: number): Promise<Content> {
    return this.#withNewFile(async (path, fd) => {
      const write = (bytes: Buffer, at: number) => this.#write(fd, bytes, at);
      const content = await copyContent(source, buffer, { write, sparse, limit });
      if (sparse) await setLength(fd, content.size);
      return this.#keep(path, fd, content);
    });
  }

  async #putClone(path: string, buffer: Buffer, limit: number): Promise<Content> {
    const fd = await open(path, constants.O_RDWR);
    try {
      const content = await copyContent(fd, buffer, { limit });
      await setLength(fd, content.size);
      return await this.#keep(path, fd, content);
    } finally {
      await close(fd);
    }
  }

  /** Gives a finished temporary file its hash for a name, unless the content is there already. */
  async #keep(path: string, fd: number, content: Content): Promise<Content> {
    if (await this.#objects.has(content.hash)) {
      await unlink(path);
      return content;
    }
    await this.#syncIfFew(fd);
    await rename(path, `${this.#staging}/${content.hash}`);
    return content;
  }

  async #syncIfFew(fd: number): Promise<void> {
    if (++this.#kept <= FEW) await datasync(fd);
  }

  async #clone(fd: number): Promise<string | undefined> {
    if (!this.#canClone) return undefined;
    const path = `${this.#staging}/${this.#files++}`;
    this.#canClone = await cloneFile(fd, path);
    return this.#canClone ? path : undefined;
  }

  async #withNewFile<T>(use: (path: string, fd: number) => Promise<T>): Promise<T> {
    const path = `${this.#staging}/${this.#files++}`;
    const fd = await open(path, CREATE, 0o600);
    try {
      return await use(path, fd);
    } finally {
      await close(fd);
    }
  }

  async #write(fd: number, bytes: Buffer, position: number): Promise<void> {
    const { budget, checkSpace } = this.#room;
    this.#written += bytes.length;
    if (this.#written > budget) {
      throw notEnoughSpace(this.#objects.folder, `${sizeText(budget)} above the reserve`, 'more than that');
    }
    this.#unchecked += bytes.length;
    if (this.#unchecked >= CHECKED_BYTES) {
      this.#unchecked = 0;
      await checkSpace?.();
    }
    await writeFully(fd, bytes, position);
  }
}
