import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, rename, rm, unlink } from 'node:fs/promises';
import { notEnoughSpace } from '../../../failures.ts';
import { sizeText } from '../../../rules/sizes.ts';
import { syncFolder } from '../../sync-folder.ts';
import { type Content, cloneFile, copyContent, PIECE_BYTES, setLength } from './copy-content.ts';
import { CREATE, close, datasync, open, readFully, writeFully } from './files.ts';
import type { Objects } from './objects.ts';

/** Objects being added by one save; their temporary files lie in a folder of its own. */
export class Additions {
  readonly #objects: Objects;
  readonly #staging: string;
  readonly #budget: number;
  readonly #folders = new Set<string>();
  readonly #buffers: Buffer[] = [];
  #files = 0;
  #written = 0;
  #canClone = true;

  constructor(objects: Objects, staging: string, budget: number) {
    this.#objects = objects;
    this.#staging = staging;
    this.#budget = budget;
  }

  /** Stores what an open file holds now. */
  async put(fd: number, sparse: boolean): Promise<Content> {
    const buffer = this.#buffers.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES);
    try {
      const clone = await this.#clone(fd);
      if (clone !== undefined) return await this.#putClone(clone, buffer);
      const count = await readFully(fd, buffer, 0);
      if (count === buffer.length) return await this.#putLarge(fd, buffer, sparse);
      return await this.#putSmall(buffer.subarray(0, count));
    } finally {
      this.#buffers.push(buffer);
    }
  }

  /** Stores a text that comes in pieces. */
  async putText(pieces: Iterable<string>): Promise<Content> {
    const hash = createHash('sha256');
    let size = 0;
    return this.#withNewFile(async (path, fd) => {
      for (const piece of pieces) {
        const bytes = Buffer.from(piece);
        hash.update(bytes);
        await this.#write(fd, bytes, size);
        size += bytes.length;
      }
      return this.#keep(path, fd, { hash: hash.digest('hex'), size });
    });
  }

  /** Makes the names of everything that was added durable. */
  async finish(): Promise<void> {
    for (const folder of this.#folders) await syncFolder(folder);
    if (this.#folders.size > 0) await syncFolder(this.#objects.folder);
    await rm(this.#staging, { recursive: true, force: true });
  }

  async #putSmall(bytes: Buffer): Promise<Content> {
    const content = { hash: createHash('sha256').update(bytes).digest('hex'), size: bytes.length };
    if (await this.#objects.has(content.hash)) return content;
    return this.#withNewFile(async (path, fd) => {
      await this.#write(fd, bytes, 0);
      return this.#keep(path, fd, content);
    });
  }

  async #putLarge(source: number, buffer: Buffer, sparse: boolean): Promise<Content> {
    return this.#withNewFile(async (path, fd) => {
      const content = await copyContent(source, buffer, sparse, (bytes, at) => this.#write(fd, bytes, at));
      if (sparse) await setLength(fd, content.size);
      return this.#keep(path, fd, content);
    });
  }

  async #putClone(path: string, buffer: Buffer): Promise<Content> {
    const fd = await open(path, constants.O_RDWR);
    try {
      return await this.#keep(path, fd, await copyContent(fd, buffer, false));
    } finally {
      await close(fd);
    }
  }

  /** Moves a finished temporary file to its name, unless the content is there already. */
  async #keep(path: string, fd: number, content: Content): Promise<Content> {
    if (await this.#objects.has(content.hash)) {
      await unlink(path);
      return content;
    }
    await datasync(fd);
    const folder = this.#objects.folderOf(content.hash);
    if (!this.#folders.has(folder)) await mkdir(folder, { recursive: true, mode: 0o700 });
    this.#folders.add(folder);
    await rename(path, this.#objects.pathOf(content.hash));
    return content;
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
    this.#written += bytes.length;
    if (this.#written > this.#budget) {
      throw notEnoughSpace(
        this.#objects.folder,
        `${sizeText(this.#budget)} above the reserve`,
        'more than that',
      );
    }
    await writeFully(fd, bytes, position);
  }
}
