import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import type { Kernel } from '../../rules/boot/boot-menu.ts';
import { sizeText } from '../../rules/machines/sizes.ts';
import { syncFolder } from '../sync-folder.ts';

/** Left free on a boot partition, which others write to as well. */
const RESERVE_BYTES = 8 * 1024 * 1024;
/** Our folder beside `loader`, with copies of kernels that lie elsewhere. */
const KERNELS = 'croft';

/** Where a boot loader finds a kernel: paths from the root of its partition. */
export interface Placed {
  readonly linux: string;
  readonly initrd: string | undefined;
}

/** Those that a partition has, and why others are not on it; undefined when all are. */
interface Placement {
  readonly placed: ReadonlyMap<Kernel, Placed>;
  readonly noRoom: string | undefined;
}

/** Kernels on the partition that a boot loader reads. Those that lie on it are used in place, of others it gets copies. */
export class KernelCopies {
  readonly #root: string;

  /** @param root where the partition is mounted */
  constructor(root: string) {
    this.#root = root;
  }

  /** Copies what is not there, the first ones first, as long as there is room. */
  async place(kernels: Iterable<Kernel>): Promise<Placement> {
    const placed = new Map<Kernel, Placed>();
    let noRoom: string | undefined;
    for (const kernel of kernels) {
      const files = [kernel.linux, ...(kernel.initrd === undefined ? [] : [kernel.initrd])];
      const places = await Promise.all(files.map(async (file) => ({ file, path: await this.#pathOf(file) })));
      const why = await this.#copy(places);
      noRoom ??= why;
      const [linux, initrd] = places.map(({ path }) => `/${path}`);
      if (why === undefined) placed.set(kernel, { linux: linux as string, initrd });
    }
    return { placed, noRoom };
  }

  /** Removes copies that none of these entries names. @param texts of all entries, of whichever installation */
  async keep(texts: readonly string[]): Promise<void> {
    const paths = new RegExp(`^(?:linux|initrd) /${KERNELS}/([0-9a-f]+)/`, 'gm');
    const used = new Set(texts.flatMap((text) => [...text.matchAll(paths)].map(([, hash]) => hash)));
    const folder = join(this.#root, KERNELS);
    for (const name of await readdir(folder).catch(() => []))
      if (!used.has(name)) await rm(join(folder, name), { recursive: true });
  }

  async #pathOf(file: string): Promise<string> {
    const inside = relative(this.#root, file);
    return inside.startsWith('..') ? join(KERNELS, await digestOf(file), basename(file)) : inside;
  }

  /** All of them or, when there is no room for that, none. @returns why there is no room */
  async #copy(files: readonly { file: string; path: string }[]): Promise<string | undefined> {
    const missing: { file: string; copy: string; size: number }[] = [];
    for (const { file, path } of files) {
      const [{ size }, copy] = [await stat(file), join(this.#root, path)];
      if ((await stat(copy).catch(() => undefined))?.size !== size) missing.push({ file, copy, size });
    }
    if (missing.length === 0) return undefined;
    const needed = missing.reduce((sum, { size }) => sum + size, RESERVE_BYTES);
    const { bavail, bsize } = await statfs(this.#root);
    if (bavail * bsize < needed) {
      const names = missing.map(({ file }) => basename(file)).join(' with ');
      return `${this.#root} has ${sizeText(bavail * bsize)} free, and ${names} needs ${sizeText(needed)}: remove states or old kernels`;
    }
    for (const { file, copy } of missing) await copyWhole(file, copy);
    return undefined;
  }
}

async function copyWhole(file: string, copy: string): Promise<void> {
  await mkdir(join(copy, '..'), { recursive: true });
  await copyFile(file, `${copy}.new`);
  const handle = await open(`${copy}.new`);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${copy}.new`, copy);
  await syncFolder(join(copy, '..'));
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(file)) hash.update(piece as Buffer);
  return hash.digest('hex').slice(0, 16);
}
