import { constants, fchmod, fchown, futimes } from 'node:fs';
import { lchown, link, lutimes, mkdir, symlink, unlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { contentDamaged, storageChanged } from '../../../../failures.ts';
import type { Entry } from '../../../../model/entry.ts';
import { pathBytes } from '../../../../model/path-text.ts';
import { isInPlace } from '../../../../rules/contents/entry-place.ts';
import { typeOf } from '../../entry-of.ts';
import { type Attributes, type Unwritten, writeAttributes } from '../content/attributes.ts';
import { cloneFile, copyContent, PIECE_BYTES, setLength } from '../content/copy-content.ts';
import { Objects } from '../content/objects.ts';
import { bytesOf, CREATE, close, errorCode, fstat, lstat, open, READ, writeFully } from '../files.ts';
import { readManifest } from './manifest.ts';
import { openTarget } from './open-target.ts';

/** What a restore did, and what it could not. */
interface Materialised {
  readonly entries: number;
  /** One line for each entry that is not as it was. */
  readonly problems: readonly string[];
}

/** What a restore tells, and what ends it. */
interface RestoreOptions {
  /** Is told each entry when it is done. */
  readonly onEntry?: (entry: Entry) => void;
  /** Is told, when it failed, why not all that it had made could be removed. */
  readonly onLeft?: (why: string) => void;
  /** Ends it in the middle of a file. */
  readonly signal?: AbortSignal;
}

/**
 * Puts a saved tree into an empty or missing folder: content, modes, times (to the microsecond, which is as exact as Node
 * can set them), links, hardlinks, holes; owners when run as root. Nobody else can enter the folder before it is finished, it is
 * reached by what was opened once and not by its name, and no name of the manifest leads out of it. When it fails or is ended,
 * the folder is as it was.
 */
export async function materialise(
  vault: string,
  manifest: string,
  target: string,
  options: RestoreOptions = {},
): Promise<Materialised> {
  return new Restore(new Objects(`${vault}/objects`), target, options).run(manifest);
}

class Restore {
  readonly #objects: Objects;
  readonly #target: string;
  readonly #options: RestoreOptions;
  readonly #folders: Entry[] = [];
  readonly #folderPaths = new Set<string>();
  readonly #firstNames = new Map<string, string>();
  readonly #problems: string[] = [];
  /** The target as it is reached, as latin1 bytes. */
  #root = '';
  #entries = 0;
  /** What an entry without attributes has: none, or nobody knows. */
  #unsaid: Attributes | undefined;

  constructor(objects: Objects, target: string, options: RestoreOptions) {
    this.#objects = objects;
    this.#target = target;
    this.#options = options;
  }

  async run(manifest: string): Promise<Materialised> {
    const target = await openTarget(this.#target);
    this.#root = target.root;
    try {
      return await this.#restore(manifest);
    } catch (error) {
      // Half a tree that looks like a whole one is worse than none.
      const left = await target.undo();
      if (left !== undefined) this.#options.onLeft?.(left);
      throw error;
    } finally {
      await close(target.fd);
    }
  }

  async #restore(manifest: string): Promise<Materialised> {
    if (!(await this.#objects.has(manifest))) throw contentDamaged('the list of its files');
    for await (const entries of readManifest(this.#objects.pathOf(manifest))) {
      for (const entry of entries) {
        this.#options.signal?.throwIfAborted();
        await this.#entry(entry);
        this.#options.onEntry?.(entry);
      }
    }
    // Deepest first: a folder's own time changes with what is put into it, and its mode may close it.
    for (const entry of this.#folders.reverse()) {
      this.#options.signal?.throwIfAborted();
      await this.#facts(this.#place(entry), entry);
    }
    return { entries: this.#entries, problems: this.#problems };
  }

  async #entry(entry: Entry): Promise<void> {
    const place = this.#place(entry);
    if (entry.type === 'folder') {
      if (entry.path !== '.') await mkdir(place, { mode: 0o700 });
      else if (entry.attributes !== undefined) this.#unsaid = {};
      this.#folders.push(entry);
      this.#folderPaths.add(entry.path);
      if (entry.unreadable !== undefined)
        this.#problem(entry, `its content was unreadable (${entry.unreadable})`);
    } else if (entry.unreadable !== undefined) {
      this.#problem(entry, `is missing: it was unreadable (${entry.unreadable})`);
      return;
    } else if (entry.type === 'link') {
      await symlink(Buffer.from(pathBytes(entry.target ?? ''), 'latin1'), place);
      await applyFacts(place, entry);
    } else if (entry.type === 'file') {
      await this.#file(place, entry);
    } else {
      this.#problem(entry, `is missing: a ${entry.type} is not made again`);
      return;
    }
    if (entry.torn === true) this.#problem(entry, 'may be inconsistent: it changed while it was saved');
    this.#entries++;
  }

  async #file(place: Buffer, entry: Entry): Promise<void> {
    const first = entry.inode === undefined ? undefined : this.#firstNames.get(entry.inode);
    if (first !== undefined) {
      await link(Buffer.from(first, 'latin1'), place);
      return;
    }
    await writeContent(this.#objects, entry, place, this.#options.signal);
    await this.#facts(place, entry);
    if (entry.inode !== undefined) this.#firstNames.set(entry.inode, place.toString('latin1'));
  }

  async #facts(place: Buffer, entry: Entry): Promise<void> {
    const problem = await applyFacts(place, withoutList(entry), entry.attributes ?? this.#unsaid);
    if (problem !== undefined) this.#problem(entry, problem);
  }

  /** Where an entry goes: below a folder that this restore made itself, so never through a link and never outside. */
  #place(entry: Entry): Buffer {
    const { path } = entry;
    if (!isInPlace(entry, this.#folderPaths)) throw contentDamaged(`the entry ${JSON.stringify(path)}`);
    return bytesOf(`${this.#root}/${pathBytes(path)}`);
  }

  #problem(entry: Entry, what: string): void {
    this.#problems.push(`${entry.path} ${what}`);
  }
}

/**
 * Writes the content of a saved file to a place where nothing is yet, and checks it on the way.
 * @throws FAILED_PRECONDITION when it is missing or damaged; nothing is left then
 */
export async function writeContent(
  objects: Objects,
  entry: Entry,
  place: Buffer,
  signal?: AbortSignal,
): Promise<void> {
  const hash = entry.hash ?? '';
  if (!/^[0-9a-f]{64}$/.test(hash)) throw contentDamaged(`the entry ${entry.path}`);
  const source = await open(objects.pathOf(hash), READ).catch((error) => {
    throw errorCode(error) === 'ENOENT' ? contentDamaged(`the content of ${entry.path}`) : error;
  });
  try {
    const cloned = await cloneFile(source, place);
    const fd = await open(place, cloned ? constants.O_RDWR | constants.O_NOFOLLOW : CREATE, 0o600);
    try {
      const write = (bytes: Buffer, at: number) => writeFully(fd, bytes, at);
      const content = await copyContent(
        cloned ? fd : source,
        Buffer.allocUnsafe(Math.min(PIECE_BYTES, (entry.size ?? PIECE_BYTES) + 1)),
        { write: cloned ? undefined : write, sparse: entry.sparse === true, signal },
      );
      await setLength(fd, content.size);
      if (content.hash !== hash) {
        await unlink(place);
        throw contentDamaged(`the content of ${entry.path}`);
      }
    } finally {
      await close(fd);
    }
  } finally {
    await close(source);
  }
}

/**
 * Gives something its owner (as root), mode and time, through an open descriptor, so that nothing is given to what somebody
 * put in its place. Owner first, because a change of owner clears the set-user-id bit and what programs may do; attributes
 * before the mode, because an access control list changes it.
 * @param attributes those that it is to have; undefined leaves it those that it has
 * @returns which it could not have, as a line for people
 */
export async function applyFacts(
  place: Buffer,
  entry: Entry,
  attributes?: Attributes,
): Promise<string | undefined> {
  const asRoot = process.geteuid?.() === 0;
  const seconds = secondsOf(entry.mtimeNs);
  if (entry.type === 'link') {
    if (asRoot) await lchown(place, entry.uid, entry.gid);
    await lutimes(place, seconds, seconds);
    return undefined;
  }
  const fd = await open(place, READ);
  try {
    if (typeOf(await fstat(fd)) !== entry.type) throw storageChanged(`the entry ${entry.path}`);
    if (asRoot) await promisify(fchown)(fd, entry.uid, entry.gid);
    const unwritten =
      attributes === undefined ? undefined : await applyAttributes(fd, place, entry, attributes);
    const { mode } = unwritten?.isOpen === true ? withoutGroup(entry) : entry;
    await promisify(fchmod)(fd, Number.parseInt(mode, 8) & 0o7777);
    await promisify(futimes)(fd, seconds, seconds);
    return unwritten?.problem;
  } finally {
    await close(fd);
  }
}

/** As something that is made anew is to be: where nobody knows who else may do what, the group may do nothing. */
export function withoutList(entry: Entry): Entry {
  return entry.bare === true ? withoutGroup(entry) : entry;
}

/** With an access control list the permissions of the group are the most that anybody named in it may do. */
function withoutGroup(entry: Entry): Entry {
  return { ...entry, mode: (Number.parseInt(entry.mode, 8) & ~0o070).toString(8) };
}

/** A folder has them through its descriptor, a file by its name, which must be that of the descriptor. */
async function applyAttributes(
  fd: number,
  place: Buffer,
  entry: Entry,
  wanted: Attributes,
): Promise<Unwritten | undefined> {
  if (entry.type === 'folder' && process.platform === 'linux')
    return writeAttributes(Buffer.from(`/proc/self/fd/${fd}/.`), wanted);
  const [opened, named] = [await fstat(fd), await lstat(place)];
  if (opened.ino !== named.ino || opened.dev !== named.dev) throw storageChanged(`the entry ${entry.path}`);
  return writeAttributes(place, wanted);
}

/** Seconds as a floating point number, which holds the microsecond; rounded so that it is never cut to the one before. */
function secondsOf(nanoseconds: string): number {
  const microseconds = BigInt(nanoseconds) / 1000n;
  return Number(microseconds / 1_000_000n) + (Number(microseconds % 1_000_000n) + 0.5) / 1_000_000;
}
