import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The folder is in use by another process. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
}

/**
 * Takes a folder for this process alone. The lock is a record lock of the kernel (held by an exclusive SQLite
 * transaction, the one such lock Node gives us), so it ends with the process however that ends: there is no
 * stale lock to clean up.
 * @throws FolderInUse naming the process that has it
 */
export function lockFolder(folder: string, what: string): Disposable {
  const owner = join(folder, 'lock.pid');
  const database = new DatabaseSync(join(folder, 'lock'), { timeout: TOGETHER_MS });
  try {
    database.exec('pragma locking_mode = exclusive; begin exclusive');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    throw new FolderInUse(
      `${what} ${folder} is in use by another Croft (process ${readOwner(owner)}). Stop that one first, or choose another folder.`,
    );
  }
  writeFileSync(owner, `${process.pid}\n`);
  return { [Symbol.dispose]: () => database.close() };
}

/** Two that start at the same instant refuse each other unless one of them waits a moment. */
const TOGETHER_MS = 300;

/** https://www.sqlite.org/rescode.html#busy */
const SQLITE_BUSY = 5;

function readOwner(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
