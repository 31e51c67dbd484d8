import { randomBytes } from 'node:crypto';
import { constants, fdatasync, fsync } from 'node:fs';
import { link, mkdir, rename, rmdir, symlink, unlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { contentDamaged, storageChanged, treeChanged } from '../../../../failures.ts';
import type { Entry } from '../../../../model/entry.ts';
import { pathBytes, pathText } from '../../../../model/path-text.ts';
import { openFolder, splitPath } from '../../open-folder.ts';
import type { Attributes } from '../content/attributes.ts';
import type { Objects } from '../content/objects.ts';
import { bytesOf, close, errorCode, fstat, open, READ_FOLDER } from '../files.ts';
import { applyFacts, withoutList, writeContent } from './materialise.ts';
import { planRevert, type RevertStep, stepPath } from './plan-revert.ts';
import { orderSteps, type Stay } from './revert-order.ts';

/** How far it is. */
interface Seen {
  done: number;
  steps: number;
}

/**
 * Makes a tree what it was in a state: only what differs is touched, each file is replaced as a whole, and doing it again
 * after an interruption finishes it. Links are never followed: each folder is opened without following, from the tree's own
 * on. On the disk when this returns.
 * @param root as latin1 bytes
 * @param present the entries of the tree now
 * @param wanted those of the state
 * @param seen counts what is done
 * @returns what is not as it was, one line each
 */
export async function revertTree(
  objects: Objects,
  root: string,
  present: readonly Entry[],
  wanted: readonly Entry[],
  seen: Seen = { done: 0, steps: 0 },
): Promise<readonly string[]> {
  const { steps, problems: unplanned } = planRevert(present, wanted);
  // What is missing is found before anything is touched; what is damaged only when it is read.
  for (const step of steps)
    if (step.do === 'file' && !(await objects.has(step.entry.hash ?? '')))
      throw contentDamaged(`the content of ${step.entry.path}`);
  if (steps.length > 0) await makeRoot(root);
  seen.steps = steps.length;
  const revert = new Revert(objects, root, attributesAfter(present, wanted), seen);
  const problems = [...unplanned];
  for (const stays of orderSteps(steps))
    problems.push(...(await allOf(stays.map((stay) => revert.stay(stay)))).flat());
  return problems;
}

/** Waits for all of them also where one fails, so that nobody works on when the caller goes on. */
async function allOf<T>(works: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(works);
  return await Promise.all(works);
}

/** What the system says when somebody made, took away or exchanged something meanwhile. */
const CHANGED = ['ENOENT', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ENOTEMPTY', 'ELOOP'];

type AttributesOf = (entry: Entry) => Attributes | undefined;

class Revert {
  readonly #objects: Objects;
  readonly #root: string;
  readonly #attributesOf: AttributesOf;
  readonly #seen: Seen;
  /** Path texts of what the system does not let be changed, and of the folders that it holds. */
  readonly #refused = new Set<string>();
  readonly #holding = new Set<string>();

  constructor(objects: Objects, root: string, attributesOf: AttributesOf, seen: Seen) {
    this.#objects = objects;
    this.#root = root;
    this.#attributesOf = attributesOf;
    this.#seen = seen;
  }

  /**
   * Does steps in one folder, through the folder that is open, and leaves its names on the disk.
   * @returns what is not as it was, one line each
   * @throws ABORTED when something else lies there than what was there a moment ago
   */
  async stay(stay: Stay): Promise<readonly string[]> {
    try {
      return await this.#stay(stay);
    } catch (error) {
      const code = errorCode(error);
      if (code === undefined || !CHANGED.includes(code)) throw error;
      throw treeChanged(`${pathText(this.#root)}/${stay.folder ?? ''}`, code);
    }
  }

  async #stay({ folder, steps }: Stay): Promise<readonly string[]> {
    const problems: string[] = [];
    // A folder that could not be made was told.
    if (folder !== undefined && withParents(folder).some((path) => this.#refused.has(path))) return problems;
    const fd = folder === undefined ? undefined : await openFolder(this.#root, folder);
    try {
      for (const step of steps) {
        const { name } = splitPath(stepPath(step));
        const at = fd === undefined ? this.#root : `/proc/self/fd/${fd}/${name}`;
        const problem = await this.#take(step, bytesOf(at));
        this.#seen.done++;
        if (problem !== undefined) problems.push(problem);
      }
      if (fd !== undefined) await promisify(fsync)(fd);
    } finally {
      if (fd !== undefined) await close(fd);
    }
    return problems;
  }

  /** What is immutable (`chattr +i`) not even root may change, and the machine has to boot all the same. @returns what is not as it was */
  async #take(step: RevertStep, at: Buffer): Promise<string | undefined> {
    const path = stepPath(step);
    if (this.#refused.has(path) || (step.do !== 'facts' && this.#holding.has(path))) return undefined;
    try {
      return await this.#step(step, at);
    } catch (error) {
      if (errorCode(error) !== 'EPERM') throw error;
      this.#refused.add(path);
      for (const parent of withParents(path)) this.#holding.add(parent);
      return `${path} stays as it is: the system does not let it be changed (EPERM), see lsattr(1)`;
    }
  }

  /** @returns what is not as it was */
  async #step(step: RevertStep, at: Buffer): Promise<string | undefined> {
    switch (step.do) {
      case 'remove':
        await (step.folder ? rmdir(at) : unlink(at)).catch((error) => {
          // Somebody who works there took it away himself.
          if (errorCode(error) !== 'ENOENT') throw error;
        });
        return undefined;
      case 'folder':
        await mkdir(at, { mode: 0o700 });
        return undefined;
      case 'file':
        return await replace(at, async (temporary) => {
          await writeContent(this.#objects, step.entry, temporary);
          const problem = await this.#giveFacts(temporary, withoutList(step.entry));
          await flush(temporary);
          return problem;
        });
      case 'link':
        return await replace(at, async (temporary) => {
          await symlink(bytesOf(pathBytes(step.entry.target ?? '')), temporary);
          return await this.#giveFacts(temporary, step.entry);
        });
      case 'name': {
        if (this.#refused.has(step.of)) return await this.#step({ ...step, do: 'file' }, at);
        // The folder of the new name is the one that is open; the other name is reached from the root.
        const { parent, name } = splitPath(step.of);
        const other = await openFolder(this.#root, parent);
        try {
          await replace(at, (temporary) => link(bytesOf(`/proc/self/fd/${other}/${name}`), temporary));
        } finally {
          await close(other);
        }
        return undefined;
      }
      case 'facts':
        return await this.#giveFacts(at, step.entry);
    }
  }

  async #giveFacts(at: Buffer, entry: Entry): Promise<string | undefined> {
    const problem = await applyFacts(at, entry, this.#attributesOf(entry));
    return problem === undefined ? undefined : `${entry.path} ${problem}`;
  }
}

/** A state of which nobody read them leaves everything those that it has now. */
function attributesAfter(present: readonly Entry[], wanted: readonly Entry[]): AttributesOf {
  if (wanted[0]?.attributes !== undefined)
    return ({ type, bare, attributes }) =>
      // A folder in its place keeps what nobody knows better.
      bare === true && type === 'folder' ? undefined : (attributes ?? {});
  const now = new Map(present.map(({ path, attributes }) => [path, attributes]));
  return ({ path }) => now.get(path);
}

/** A path below the tree, and those of the folders it lies in. */
function withParents(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.map((_part, at) => parts.slice(0, at + 1).join('/'));
}

/** A home that was deleted as a whole comes back, too. */
async function makeRoot(root: string): Promise<void> {
  await mkdir(bytesOf(root), { mode: 0o700 }).catch((error) => {
    if (errorCode(error) !== 'EEXIST') throw error;
  });
}

/**
 * Puts something new in the place of what is there, which stays until the new one is complete. It is made in a folder that
 * nobody else may enter: what gets owner, mode and attributes by its name is not what its user put under that name.
 */
async function replace<T>(at: Buffer, make: (temporary: Buffer) => Promise<T>): Promise<T> {
  const text = at.toString('latin1');
  const folder = text.slice(0, text.lastIndexOf('/'));
  const room = bytesOf(`${folder}/.croft-${randomBytes(8).toString('hex')}`);
  await mkdir(room, { mode: 0o700 });
  const fd = await open(room, READ_FOLDER);
  try {
    const { uid, mode } = await fstat(fd);
    if (uid !== BigInt(process.geteuid?.() ?? 0) || (mode & 0o077n) !== 0n) throw storageChanged('a folder');
    const temporary = bytesOf(`/proc/self/fd/${fd}/new`);
    try {
      const made = await make(temporary);
      await rename(temporary, at);
      return made;
    } finally {
      // Renaming one name of a file over another leaves both.
      await unlink(temporary).catch(() => {});
    }
  } finally {
    await close(fd);
    await rmdir(room).catch(() => {});
  }
}

async function flush(path: Buffer): Promise<void> {
  const fd = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    await promisify(fdatasync)(fd);
  } finally {
    await close(fd);
  }
}
