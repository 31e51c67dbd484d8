import { createHash } from 'node:crypto';
import { link, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { notEnoughSpace } from '../../../../failures.ts';
import { badImport } from '../../../../failures-extras.ts';
import { isHash } from '../../../../rules/contents/exported-entry.ts';
import { sizeText } from '../../../../rules/machines/sizes.ts';
import { syncFileSystem } from '../../../sync-file-system.ts';
import { syncFolder } from '../../../sync-folder.ts';
import type { ReceiveRequest } from '../../storage.ts';
import { CREATE, close, datasync, open, writeFully } from '../files.ts';
import { setLength } from './copy-content.ts';
import type { Objects } from './objects.ts';

/** Contents up to this size are collected and written while the next ones come. */
const SMALL_BYTES = 256 * 1024;
/** More are made durable in one go. */
const FEW_FOLDERS = 16;
/** After so many bytes it is asked whether the disk still has room. */
export const CHECKED_BYTES = 4 * 1024 * 1024;
/** So many are written at once. */
const WRITERS = 16;

/** How much may be written. */
type Room = Pick<ReceiveRequest, 'budget' | 'checkSpace'>;

/** Contents from outside, by what they should hash to, in a folder where nobody looks for content. */
export class Staging {
  readonly #objects: Objects;
  readonly #folder: string;
  readonly #room: Room;
  readonly #there = new Set<string>();
  readonly #writing = new Set<Promise<void>>();
  #failed: { readonly error: unknown } | undefined;
  #written = 0;
  #unchecked = 0;

  constructor(objects: Objects, folder: string, room: Room) {
    this.#objects = objects;
    this.#folder = folder;
    this.#room = room;
  }

  /**
   * Takes a content in and checks it.
   * @param look sees it on the way
   * @throws INVALID_ARGUMENT when it is not what its hash says; RESOURCE_EXHAUSTED
   */
  async put(
    expected: string,
    size: number,
    sparse: boolean,
    parts: AsyncIterable<Buffer>,
    look: (bytes: Buffer) => void = () => {},
  ): Promise<void> {
    this.#throwFailure();
    const hash = createHash('sha256');
    const see = (bytes: Buffer) => {
      hash.update(bytes);
      look(bytes);
    };
    const check = () => {
      if (hash.digest('hex') !== expected) throw badImport(`the content ${expected} is damaged`);
    };
    if (await this.#isThere(expected)) {
      for await (const part of parts) see(part);
      check();
      return;
    }
    if (size > SMALL_BYTES) {
      await this.#write(expected, size, sparse, parts, see);
      check();
      return;
    }
    const collected: Buffer[] = [];
    for await (const part of parts) {
      see(part);
      collected.push(part);
    }
    check();
    await this.#later(() => this.#write(expected, size, false, collected, () => {}));
  }

  /** Everything is on the disk when this returns. */
  async finish(): Promise<void> {
    await this.settle();
    this.#throwFailure();
    await syncFolder(this.#folder);
  }

  /** Nothing is written any more when this returns. */
  async settle(): Promise<void> {
    await Promise.all(this.#writing);
  }

  #throwFailure(): void {
    if (this.#failed !== undefined) throw this.#failed.error as Error;
  }

  async #later(work: () => Promise<void>): Promise<void> {
    while (this.#writing.size >= WRITERS) await Promise.race(this.#writing);
    const writing = work()
      .catch((error) => {
        this.#failed ??= { error };
      })
      .finally(() => this.#writing.delete(writing));
    this.#writing.add(writing);
  }

  /** What the vault has already is kept by another name: it may be collected before this is in its place. */
  async #isThere(hash: string): Promise<boolean> {
    if (this.#there.has(hash)) return true;
    this.#there.add(hash);
    try {
      await link(this.#objects.pathOf(hash), `${this.#folder}/${hash}`);
      return true;
    } catch {
      // Also where the file system has no such links: then it is written again.
      return false;
    }
  }

  async #write(
    hash: string,
    size: number,
    sparse: boolean,
    parts: AsyncIterable<Buffer> | Iterable<Buffer>,
    see: (bytes: Buffer) => void,
  ): Promise<void> {
    const fd = await open(`${this.#folder}/${hash}`, CREATE, 0o600);
    try {
      let at = 0;
      for await (const part of parts) {
        see(part);
        if (!(sparse && part.every((byte) => byte === 0))) {
          await this.#count(part.length);
          await writeFully(fd, part, at);
        }
        at += part.length;
      }
      if (sparse) await setLength(fd, size);
      await datasync(fd);
    } finally {
      await close(fd);
    }
  }

  async #count(bytes: number): Promise<void> {
    const { budget, checkSpace } = this.#room;
    this.#written += bytes;
    if (this.#written > budget)
      throw notEnoughSpace(this.#objects.folder, `${sizeText(budget)} above the reserve`, 'more than that');
    this.#unchecked += bytes;
    if (this.#unchecked < CHECKED_BYTES) return;
    this.#unchecked = 0;
    await checkSpace();
  }
}

/** Gives staged contents their names among all others, in place of the same content if it is there, and the folder goes. */
export async function placeStaged(objects: Objects, folder: string): Promise<void> {
  const folders = new Map<string, Promise<unknown>>();
  const place = async (hash: string) => {
    const home = objects.folderOf(hash);
    const made = folders.get(home) ?? mkdir(home, { recursive: true, mode: 0o700 });
    folders.set(home, made);
    await made;
    await rename(`${folder}/${hash}`, objects.pathOf(hash));
  };
  // What has no hash for a name came to nothing, such as a file that failed while it was read.
  const hashes = (await readdir(folder)).filter(isHash);
  const lane = async () => {
    for (let hash = hashes.pop(); hash !== undefined; hash = hashes.pop()) await place(hash);
  };
  await Promise.all(Array.from({ length: WRITERS }, lane));
  if (folders.size > FEW_FOLDERS && (await syncFileSystem(objects.folder))) folders.clear();
  for (const home of folders.keys()) await syncFolder(home);
  if (folders.size > 0) await syncFolder(objects.folder);
  // Renaming one name of a file to another name of it leaves both.
  await rm(folder, { recursive: true, force: true });
}
