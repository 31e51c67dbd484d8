import { fstatSync, lstatSync, readlinkSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { MountBelow } from '../../foreign-mounts.ts';
import { bytesOf, type Stat } from '../files.ts';

/** ext2 to ext4, XFS, btrfs, ZFS, F2FS, bcachefs, tmpfs: on a disk or in memory, and no server or program answers. */
const OWN = new Set([0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0xf2f52010, 0xca451a4e, 0x01021994]);
/** What is in memory takes a tenth of it. */
const SLOW_MS = 0.1;
/** After a slow answer so many are waited for, several at once, as a disk has them soonest. */
const PATIENCE = 64;

/**
 * Asks the system for facts without waiting for its answer elsewhere: that takes a quarter of the time, which is nearly all of the
 * time of an unchanged tree. Only where the answer lies in memory, as a rule, and nobody else can hold it back.
 */
export class QuickLook {
  readonly #isOwn: boolean;
  /** Path texts of folders of the tree in which something is mounted, which somebody else may answer for. */
  readonly #mounted: ReadonlySet<string>;
  #patience = 0;

  private constructor(isOwn: boolean, mounted: ReadonlySet<string>) {
    this.#isOwn = isOwn;
    this.#mounted = mounted;
  }

  /**
   * @param root of the tree, as latin1 bytes
   * @param mounts what is mounted below it
   */
  static async open(root: string, mounts: readonly MountBelow[]): Promise<QuickLook> {
    const { type } = await statfs(bytesOf(root));
    const mounted = mounts.map(({ path }) => dirname(path));
    return new QuickLook(process.platform === 'linux' && OWN.has(type), new Set(mounted));
  }

  /** In a folder of the tree nobody else can hold back the answer. @param folder its path text */
  isFor(folder: string): boolean {
    return this.#isOwn && !this.#mounted.has(folder);
  }

  /** Facts of a path itself; undefined when it is better to wait for them. */
  lstat(at: Buffer): Stat | undefined {
    if (this.#patience > 0) {
      this.#patience--;
      return undefined;
    }
    const start = performance.now();
    try {
      return lstatSync(at, { bigint: true });
    } finally {
      if (performance.now() - start > SLOW_MS) this.#patience = PATIENCE;
    }
  }

  /** Facts of an open folder. */
  fstat(fd: number): Stat {
    return fstatSync(fd, { bigint: true });
  }

  /** Where a link points that was just looked at, as latin1 bytes. */
  readlink(at: Buffer): string {
    return readlinkSync(at, { encoding: 'latin1' }) as string;
  }
}
