import { readdir, unlink } from 'node:fs/promises';
import { errorCode, lstat } from '../files.ts';

/**
 * Whole files by the SHA-256 of their content: `objects/ab/cdef…`. An object appears under its name only when all of it is
 * on the disk, so whoever finds one can trust it.
 */
export class Objects {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  folderOf(hash: string): string {
    return `${this.folder}/${hash.slice(0, 2)}`;
  }

  pathOf(hash: string): string {
    return `${this.folderOf(hash)}/${hash.slice(2)}`;
  }

  async has(hash: string): Promise<boolean> {
    try {
      await lstat(this.pathOf(hash));
      return true;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return false;
      throw error;
    }
  }

  /** Every hash there is. */
  async list(): Promise<Set<string>> {
    const found = new Set<string>();
    for (const shard of await readdir(this.folder)) {
      for (const rest of await readdir(`${this.folder}/${shard}`)) found.add(shard + rest);
    }
    return found;
  }

  /** Removes an object and gives its size; 0 when it is gone already. */
  async remove(hash: string): Promise<number> {
    try {
      const { size } = await lstat(this.pathOf(hash));
      await unlink(this.pathOf(hash));
      return Number(size);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return 0;
      throw error;
    }
  }
}
