import { fchmod, fchown } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { restoreTargetRefused } from '../../../../failures.ts';
import { bytesOf, close, errorCode, fstat, open, READ_FOLDER, type Stat } from '../files.ts';

/** A folder that a restore goes into. Whoever uses it closes the descriptor. */
export interface Target {
  readonly fd: number;
  /** The folder as latin1 bytes: what is open, whatever its name leads to by now. */
  readonly root: string;
  /** After a failure: a folder that was there is whose it was. */
  readonly giveBack: () => Promise<void>;
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
  const isMade = await makeFolders(path).catch(because);
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
      if (!isMade) await give(fd, before);
    };
    if (await isEmpty()) return { fd, root, giveBack };
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
 * @returns false when something is there already
 */
async function makeFolders(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    if (errorCode(error) !== 'ENOENT' || !(await makeFolders(dirname(path)))) throw error;
    return makeFolders(path);
  }
}
