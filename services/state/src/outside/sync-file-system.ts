import { programsIn } from './programs.ts';

const run = programsIn('/usr/bin:/bin');
/** A slow disk with much to write; who waits has time. */
const TIMEOUT_MS = 600_000;

/**
 * Puts everything that was written to the file system of a folder on the disk, with `sync -f` of GNU coreutils: Node has no
 * call for it.
 * @returns false where there is no such program
 * @throws when the disk did not take it
 */
export async function syncFileSystem(folder: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const { ok, why } = await run('sync', ['-f', '--', folder], { timeoutMs: TIMEOUT_MS });
  if (ok) return true;
  if (/is not installed|invalid option|unrecognized option/.test(why)) return false;
  const isFull = /no space left|quota exceeded/i.test(why);
  throw Object.assign(new Error(why), { errno: isFull ? -28 : -5, code: isFull ? 'ENOSPC' : 'EIO' });
}
