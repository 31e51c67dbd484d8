import { access, constants, lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { notEnoughSpace, storageRefused, storageUnavailable } from '../../../failures.ts';
import { isBelow, type Mount, mountOf, readMounts } from '../../mounts.ts';
import type { Ran, RunProgram } from '../../programs.ts';
import { errorCode, lstat as lstatExactly } from '../vault/files.ts';
import type { Called, KernelCalls } from './kernel-calls.ts';
import { type ListedSubvolume, parseList, parseShow, type ShownSubvolume } from './subvolume-text.ts';

/** The inode of every subvolume's own folder, and of no other folder on btrfs. */
const SUBVOLUME_INODE = 256;
/** So many are deleted by one command. */
const BATCH = 500;
/** The cleaner is not waited for any longer: whatever is mounted or open in a deleted subvolume holds it up. */
const CLEANER_MS = 20_000;
/** A list of all is longer than this where somebody makes them without end. */
const MAX_LIST_BYTES = 16 * 1024 * 1024;

/** What the kernel tells of a snapshot; what is missing is not known. */
export type Told = Pick<Called, 'uuid' | 'isAlone'>;

/** Subvolumes of one file system, by the program `btrfs` and by calls, where those are given. Paths are relative to its top level. */
export class Subvolumes {
  /** Where the top level is mounted. */
  readonly root: string;
  readonly #run: RunProgram;
  readonly #calls: KernelCalls | undefined;

  constructor(root: string, run: RunProgram, calls?: KernelCalls) {
    this.root = root;
    this.#run = run;
    this.#calls = calls;
  }

  /** Where a subvolume is found. */
  at(path: string): string {
    return `${this.root}/${path}`;
  }

  /** Whether a subvolume, and not a folder or link, lies there. */
  async isThere(path: string): Promise<boolean> {
    return isSubvolume(this.at(path));
  }

  /**
   * How it and the folder that it lies in look from outside: a subvolume has a device of its own as long as it is there, and what
   * takes its place changes the folder. Undefined when it is not there.
   */
  async lookOf(path: string): Promise<string | undefined> {
    try {
      const looks = [];
      for (const each of [this.at(path), dirname(this.at(path))]) {
        const { dev, ino, ctimeNs } = await lstatExactly(each);
        looks.push(`${dev} ${ino} ${ctimeNs}`);
      }
      return looks.join();
    } catch (error) {
      if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return undefined;
      throw error;
    }
  }

  /** Whether nobody, root included, can write to it. */
  async isReadOnly(path: string): Promise<boolean> {
    try {
      await access(this.at(path), constants.W_OK);
      return false;
    } catch (error) {
      if (['EROFS', 'ENOENT'].includes(errorCode(error) ?? '')) return errorCode(error) === 'EROFS';
      throw error;
    }
  }

  /**
   * All there are; undefined when they cannot be listed, because everybody can make as many as he likes in his home, and write
   * lines of his own into the list by the names he gives them.
   */
  async listAll(): Promise<ListedSubvolume[] | undefined> {
    const ran = await this.#run('btrfs', ['subvolume', 'list', '-u', this.root], {
      maxBytes: MAX_LIST_BYTES,
    });
    return ran.ok ? parseList(ran.stdout) : undefined;
  }

  /** Those that lie in a subvolume itself, not in one that is in it. */
  async listIn(
    path: string,
    options: { readOnly: boolean } = { readOnly: false },
  ): Promise<ListedSubvolume[]> {
    const only = options.readOnly ? ['-r'] : [];
    const ran = await this.#btrfs('list', ...only, '-o', '-u', '-q', this.at(path));
    if (!ran.ok) throw this.#refusal(`the subvolumes of ${path} could not be listed`, ran);
    return parseList(ran.stdout);
  }

  /** What is known of one; undefined when there is none. */
  async show(path: string): Promise<ShownSubvolume | undefined> {
    if (!(await this.isThere(path))) return undefined;
    const ran = await this.#btrfs('show', this.at(path));
    const shown = parseShow(ran.stdout);
    if (shown === undefined) throw this.#refusal(`${path} could not be read`, ran);
    return shown;
  }

  /** A read-only snapshot. When this returns, it survives a crash. @returns what the kernel tells of it, where it is asked itself */
  async snapshot(from: string, to: string): Promise<Told> {
    const called = await this.#calls?.snapshot(this.at(from), this.at(to));
    const ran = called ?? (await this.#btrfs('snapshot', '-r', '--', this.at(from), this.at(to)));
    // What the program says of itself is not the truth: what counts is what is there.
    if (!ran.ok || !(await this.isThere(to))) throw this.#refusal(`no snapshot of ${from} was made`, ran);
    return called ?? {};
  }

  /** A snapshot that can be written to. When this returns, it survives a crash. */
  async copy(from: string, to: string): Promise<void> {
    const ran = await this.#btrfs('snapshot', '--', this.at(from), this.at(to));
    if (!ran.ok || !(await this.isThere(to))) throw this.#refusal(`no copy of ${from} was made`, ran);
  }

  async create(path: string): Promise<void> {
    const ran = await this.#btrfs('create', '--', this.at(path));
    if (!ran.ok || !(await this.isThere(path))) throw this.#refusal(`${path} was not made`, ran);
  }

  /** Nobody writes to it from now on. */
  async makeReadOnly(path: string): Promise<void> {
    const ran = await this.#run('btrfs', ['property', 'set', '-ts', this.at(path), 'ro', 'true']);
    if ((await this.show(path))?.readOnly !== true)
      throw this.#refusal(`${path} was not made read-only`, ran);
  }

  /** Deletes subvolumes; those that are not there are no failure. A crash right after may bring them back. */
  async delete(paths: readonly string[]): Promise<void> {
    for (let from = 0; from < paths.length; from += BATCH)
      await this.#deleteSome(paths.slice(from, from + BATCH));
  }

  async #deleteSome(paths: readonly string[]): Promise<void> {
    const there: string[] = [];
    for (const path of paths) if (await this.isThere(path)) there.push(path);
    if (there.length === 0) return;
    const all = there.map((path) => this.at(path));
    const ran = (await this.#calls?.destroy(all)) ?? (await this.#btrfs('delete', '--', ...all));
    for (const path of there)
      if (await this.isThere(path)) throw this.#refusal(`the subvolume ${path} could not be deleted`, ran);
  }

  /** Whether one is mounted somewhere, or a folder in it. Deleting what is mounted succeeds, and empties it. */
  async isMounted(path: string): Promise<boolean> {
    return (await this.#mounts()).some((mount) => isBelow(mount.root, `/${path}`));
  }

  /** What the machine runs on, when that is on this file system. */
  async runningRoot(): Promise<string | undefined> {
    return (await this.#mounts()).find((mount) => mount.path === '/')?.root.slice(1);
  }

  async #mounts(): Promise<readonly Mount[]> {
    const mounts = await readMounts();
    const device = mountOf(mounts, this.root)?.device;
    return mounts.filter((mount) => mount.device === device);
  }

  /** Afterwards a subvolume shows what was written to it before. */
  async sync(): Promise<void> {
    const ran = await this.#run('btrfs', ['filesystem', 'sync', this.root]);
    if (!ran.ok) throw this.#refusal('what was written could not be put on the disk', ran);
  }

  /** Waits until the kernel has given back what deleted ones took, for a while. @returns whether it has */
  async awaitCleaner(): Promise<boolean> {
    const commit = async () => (await this.#run('btrfs', ['filesystem', 'sync', this.root])).ok;
    // The cleaner begins after a commit, which otherwise comes every thirty seconds, and what it frees is free after another.
    if (!(await commit())) return false;
    const cleaned = await this.#run('btrfs', ['subvolume', 'sync', this.root], { timeoutMs: CLEANER_MS });
    return (await commit()) && cleaned.ok;
  }

  /** The id of the one that is mounted where nothing else is said. */
  async defaultId(): Promise<string | undefined> {
    return /^ID (\d+)/.exec((await this.#btrfs('get-default', this.root)).stdout)?.[1];
  }

  async setDefault(id: string): Promise<void> {
    const ran = await this.#btrfs('set-default', id, this.root);
    if (!ran.ok) throw this.#refusal('the default subvolume could not be set', ran);
  }

  #btrfs(...args: readonly string[]): Promise<Ran> {
    return this.#run('btrfs', ['subvolume', ...args]);
  }

  #refusal(what: string, { stderr, why }: Pick<Ran, 'stderr' | 'why'>): Error {
    if (/No space left on device|Disk quota exceeded/.test(stderr))
      return notEnoughSpace(`the btrfs at ${this.root}`, 'nothing', 'more');
    if (/Read-only file system|Input\/output error/.test(stderr))
      return storageUnavailable(`${what}: ${why}`);
    return storageRefused(what, why);
  }
}

/** Whether the folder of a subvolume lies at a path of the host that is on btrfs. */
export async function isSubvolume(path: string): Promise<boolean> {
  try {
    const stat = await lstat(path);
    return stat.isDirectory() && stat.ino === SUBVOLUME_INODE;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return false;
    throw error;
  }
}
