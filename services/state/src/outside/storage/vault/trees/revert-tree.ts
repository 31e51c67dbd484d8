import { randomBytes } from 'node:crypto';
import { constants, fdatasync, fsync } from 'node:fs';
import { link, mkdir, rename, rmdir, symlink, unlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { contentDamaged, storageChanged } from '../../../../failures.ts';
import type { Entry } from '../../../../model/entry.ts';
import { pathBytes } from '../../../../model/path-text.ts';
import { openFolder, splitPath } from '../../open-folder.ts';
import type { Attributes } from '../content/attributes.ts';
import type { Objects } from '../content/objects.ts';
import { bytesOf, close, errorCode, fstat, open, READ_FOLDER } from '../files.ts';
import { applyFacts, withoutList, writeContent } from './materialise.ts';
import { planRevert } from './plan-revert.ts';

/**
 * Makes a tree what it was in a state: only what differs is touched, each file is replaced as a whole, and doing it again
 * after an interruption finishes it. Links are never followed: each folder is opened without following, from the tree's own
 * on. On the disk when this returns.
 * @param root as latin1 bytes
 * @param present the entries of the tree now
 * @param wanted those of the state
 * @returns what is not as it was, one line each
 */
export async function revertTree(
  objects: Objects,
  root: string,
  present: readonly Entry[],
  wanted: readonly Entry[],
): Promise<readonly string[]> {
  const { steps, problems: unplanned } = planRevert(present, wanted);
  const problems = [...unplanned];
  // What is missing is found before anything is touched; what is damaged only when it is read.
  for (const step of steps)
    if (step.do === 'file' && !(await objects.has(step.entry.hash ?? '')))
      throw contentDamaged(`the content of ${step.entry.path}`);
  if (steps.length > 0) await makeRoot(root);
  const attributesOf = attributesAfter(present, wanted);
  const giveFacts = async (at: Buffer, entry: Entry) => {
    const problem = await applyFacts(at, entry, attributesOf(entry));
    if (problem !== undefined) problems.push(`${entry.path} ${problem}`);
  };
  const tree = new Tree(root);
  try {
    for (const step of steps) {
      const path = step.do === 'remove' ? step.path : step.entry.path;
      const at = await tree.at(path);
      switch (step.do) {
        case 'remove':
          await (step.folder ? rmdir(at) : unlink(at));
          break;
        case 'folder':
          await mkdir(at, { mode: 0o700 });
          break;
        case 'file':
          await replace(at, async (temporary) => {
            await writeContent(objects, step.entry, temporary);
            await giveFacts(temporary, withoutList(step.entry));
            await flush(temporary);
          });
          break;
        case 'link':
          await replace(at, async (temporary) => {
            await symlink(bytesOf(pathBytes(step.entry.target ?? '')), temporary);
            await giveFacts(temporary, step.entry);
          });
          break;
        case 'name': {
          // The folder of the new name is the one that is open; the other name is reached from the root.
          const other = await tree.atBeside(step.of);
          try {
            await replace(at, (temporary) => link(other.path, temporary));
          } finally {
            await close(other.folder);
          }
          break;
        }
        case 'facts':
          await giveFacts(at, step.entry);
          break;
      }
    }
  } finally {
    await tree.close();
  }
  return problems;
}

/** A state of which nobody read them leaves everything those that it has now. */
function attributesAfter(present: readonly Entry[], wanted: readonly Entry[]) {
  if (wanted[0]?.attributes !== undefined)
    return ({ type, bare, attributes }: Entry): Attributes | undefined =>
      // A folder in its place keeps what nobody knows better.
      bare === true && type === 'folder' ? undefined : (attributes ?? {});
  const now = new Map(present.map(({ path, attributes }) => [path, attributes]));
  return ({ path }: Entry): Attributes | undefined => now.get(path);
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
async function replace(at: Buffer, make: (temporary: Buffer) => Promise<void>): Promise<void> {
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
      await make(temporary);
      await rename(temporary, at);
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

/** Names below a tree, looked up through its open folders; steps stay in one folder for long. */
class Tree {
  readonly #root: string;
  #folder: { readonly path: string; readonly fd: number } | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  /** An entry, through its folder, which is open until the next one is asked for. */
  async at(path: string): Promise<Buffer> {
    if (path === '.') return bytesOf(this.#root);
    const { parent, name } = splitPath(path);
    if (this.#folder?.path !== parent) {
      await this.close();
      this.#folder = { path: parent, fd: await openFolder(this.#root, parent) };
    }
    return bytesOf(`/proc/self/fd/${this.#folder.fd}/${name}`);
  }

  /** An entry, through a folder that the caller closes. */
  async atBeside(path: string): Promise<{ path: Buffer; folder: number }> {
    const { parent, name } = splitPath(path);
    const folder = await openFolder(this.#root, parent);
    return { path: bytesOf(`/proc/self/fd/${folder}/${name}`), folder };
  }

  /** Leaves the open folder, its names on the disk. */
  async close(): Promise<void> {
    const folder = this.#folder;
    this.#folder = undefined;
    if (folder === undefined) return;
    try {
      await promisify(fsync)(folder.fd);
    } finally {
      await close(folder.fd);
    }
  }
}
