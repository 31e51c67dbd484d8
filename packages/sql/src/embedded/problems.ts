import { StartError } from '@croft/runtime';

/** What a person can do instead of the embedded server; ends every message about a platform that cannot run it. */
export const USE_YOUR_OWN = 'set DATABASE_URL to a PostgreSQL server of your own (15 or later)';

/** Causes that have nothing to do with Croft, as the C library and PostgreSQL spell them. */
const CAUSES: readonly [RegExp, (folder: string) => string][] = [
  [
    /No space left on device|Disk quota exceeded|ENOSPC|EDQUOT/,
    (folder) => `The disk of ${folder} is full. Free some space, or choose another folder with CROFT_DATA.`,
  ],
  [
    /Read-only file system|EROFS/,
    (folder) => `${folder} is on a read-only file system. Choose another folder with CROFT_DATA.`,
  ],
  [
    /Permission denied|Operation not permitted|EACCES|EPERM/,
    (folder) =>
      `${folder} cannot be written by this user. Give it to the user that runs Croft, or choose another folder with CROFT_DATA.`,
  ],
  [
    /could not look up effective user ID/,
    () =>
      `This user has no entry in /etc/passwd, which PostgreSQL needs to make its data folder. Add one, or ${USE_YOUR_OWN}.`,
  ],
  [
    /could not (?:map|create|open|resize) shared memory|Cannot allocate memory/,
    () => `There is not enough memory for PostgreSQL. Free some, or ${USE_YOUR_OWN}.`,
  ],
];

/** The sentence for a known cause found in what was printed or thrown; undefined when nobody knows better. */
export function explain(printed: string, folder: string): string | undefined {
  return CAUSES.find(([pattern]) => pattern.test(printed))?.[1](folder);
}

/** Runs file operations of the start and turns what the machine refuses into a sentence. */
export async function explained<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const sentence = code === undefined ? undefined : explain(`${code} ${message}`, folder);
    throw sentence === undefined ? error : new StartError(sentence, { cause: error });
  }
}
