import { fchmod, fchown } from 'node:fs';
import { chmod, mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import { restoreTargetRefused } from '../../../../failures.ts';
import { bytesOf, close, errorCode, fstat, open, READ_FOLDER, type Stat } from '../files.ts';

/** A folder that a restore goes into. Whoever uses it closes the descriptor. */
export interface Target {
  readonly fd: number;
  /** The folder as latin1 bytes: what is open, whatever its name leads to by now. */
  readonly root: string;
  /** A folder that was there is whose it was. */
  readonly giveBack: () => Promise<void>;
  /** After a failure: what was put into it goes, and what was made for it. @returns why something of that is left */
  readonly undo: () => Promise<string | undefined>;
}

const ANOTHER = 'name an empty folder, or one that is not there yet';

/**
 * Opens an empty or missing folder. It is ours and closed to everybody else then: its name may lie in a folder of somebody who
 * puts a link in its place, and a folder that was there may belong to somebody who puts links into it.
 * @throws FAILED_PRECONDITION
 */
export async function openTarget(path: string): Promise<Target> {
  const refuse = (reason: string) => restoreTargetRefused(path, reason);
  const because = (error: unknown) => {
    throw errorCode(error) === undefined ? error : refuse((error as Error).message);
  };
  const made = await makeFolders(path).catch(because);
  const fd = await open(path, READ_FOLDER).catch((error) => {
    if (['ELOOP', 'ENOTDIR'].includes(errorCode(error) ?? ''))
      throw refuse(`it is a link or no folder: ${ANOTHER}`);
    return because(error);
  });
  try {
    const root = process.platform === 'linux' ? `/proc/self/fd/${fd}` : Buffer.from(path).toString('latin1');
    const isEmpty = async () => (await readdir(bytesOf(root))).length === 0;
    if (!(await isEmpty())) throw refuse(`it is not empty: ${ANOTHER}`);
    const before = await fstat(fd);
    await take(fd, before).catch(because);
    const giveBack = async () => {
      if (made.length === 0) await give(fd, before);
    };
    const problemOf = async (work: () => Promise<void>) =>
      work().then(
        () => undefined,
        (error: Error) => error.message.replaceAll(root, path),
      );
    const undo = async () => {
      const problem = await problemOf(async () => {
        await promisify(fchmod)(fd, 0o700);
        await empty(root);
        await removeMade(root, made);
      });
      // Whatever is left in it: nobody is kept out of his folder.
      return [problem, await problemOf(giveBack)].find((each) => each !== undefined);
    };
    if (await isEmpty()) return { fd, root, giveBack, undo };
    await giveBack();
    throw refuse(`somebody put something into it: ${ANOTHER}`);
  } catch (error) {
    await close(fd);
    throw error;
  }
}

async function take(fd: number, { uid }: Stat): Promise<void> {
  const own = process.geteuid?.() ?? Number(uid);
  if (uid !== BigInt(own)) await promisify(fchown)(fd, own, process.getegid?.() ?? 0);
  await promisify(fchmod)(fd, 0o700);
}

async function give(fd: number, { uid, gid, mode }: Stat): Promise<void> {
  if (process.geteuid?.() === 0) await promisify(fchown)(fd, Number(uid), Number(gid));
  await promisify(fchmod)(fd, Number(mode & 0o7777n));
}

/**
 * Makes a folder and those above it; `mkdir` with `recursive` never ends where a file system takes none, as below `/proc`.
 * @returns the names of those that were made, the deepest first; none when something is there already
 */
async function makeFolders(path: string): Promise<readonly string[]> {
  try {
    await mkdir(path, { mode: 0o700 });
    return [basename(path)];
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return [];
    const above = errorCode(error) === 'ENOENT' ? await makeFolders(dirname(path)) : [];
    if (above.length === 0) throw error;
    return [...(await makeFolders(path)), ...above];
  }
}

async function empty(root: string): Promise<void> {
  try {
    await removeIn(root);
  } catch (error) {
    if (errorCode(error) !== 'EACCES') throw error;
    // Folders that have their modes already may keep out whoever they belong to.
    await openUp(root);
    await removeIn(root);
  }
}

/** What cannot be removed keeps nothing else. */
async function removeIn(root: string): Promise<void> {
  let problem: Error | undefined;
  for (const name of await readdir(bytesOf(root), { encoding: 'latin1' }))
    await rm(bytesOf(`${root}/${name}`), { recursive: true, force: true }).catch((error: Error) => {
      problem ??= error;
    });
  if (problem !== undefined) throw problem;
}

async function openUp(folder: string): Promise<void> {
  for (const below of await readdir(bytesOf(folder), { encoding: 'latin1', withFileTypes: true })) {
    if (!below.isDirectory()) continue;
    await chmod(bytesOf(`${folder}/${below.name}`), 0o700);
    await openUp(`${folder}/${below.name}`);
  }
}

/** Reached from the folder that is open: what its path leads to by now may be another one. */
async function removeMade(root: string, made: readonly string[]): Promise<void> {
  let above = root;
  for (const name of made) {
    above += '/..';
    // Somebody may use it by now, or have renamed it.
    await rmdir(bytesOf(`${above}/${Buffer.from(name).toString('latin1')}`)).catch(() => {});
  }
}
