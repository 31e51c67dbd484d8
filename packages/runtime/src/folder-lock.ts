import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
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
 * @throws NodeJS.ErrnoException with the system's code when the folder or its disk does not take files
 */
export function lockFolder(folder: string, what: string): Disposable {
  const owner = join(folder, 'lock.pid');
  const file = join(folder, 'lock');
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: TOGETHER_MS });
    // Nothing is ever written, and a journal in a file would want room, which a full disk has not.
    database.exec('pragma journal_mode = memory; pragma locking_mode = exclusive; begin exclusive');
    nameOwner(owner);
  } catch (error) {
    database?.close();
    if (resultCode(error) !== SQLITE_BUSY) throw inWordsOfTheSystem(error, file);
    throw new FolderInUse(
      `${what} ${folder} is in use by another Croft (process ${readOwner(owner)}). Stop that one first, or choose another folder.`,
    );
  }
  const held = database;
  return { [Symbol.dispose]: () => held.close() };
}

/** For messages only: a full disk keeps nobody from having the folder. */
function nameOwner(owner: string): void {
  try {
    writeFileSync(owner, `${process.pid}\n`);
  } catch (error) {
    if (!['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** Two that start at the same instant refuse each other unless one of them waits a moment. */
const TOGETHER_MS = 300;

/** https://www.sqlite.org/rescode.html */
const SQLITE_BUSY = 5;
const SQLITE_CANTOPEN = 14;
const CODES: Readonly<Record<number, string>> = { 8: 'EROFS', 10: 'EIO', 13: 'ENOSPC' };

/** The primary code; SQLite keeps details in the higher bits. */
function resultCode(error: unknown): number {
  return ((error as { errcode?: number }).errcode ?? 0) & 0xff;
}

/** SQLite has its own numbers for what the system said, and one for every reason a file cannot be opened. */
function inWordsOfTheSystem(error: unknown, file: string): unknown {
  const found = resultCode(error);
  if (found === SQLITE_CANTOPEN) return openAgain(file) ?? error;
  const code = CODES[found];
  return code === undefined
    ? error
    : Object.assign(new Error(`${code}: ${file}`, { cause: error }), { code });
}

function openAgain(file: string): unknown {
  try {
    closeSync(openSync(file, 'a'));
    return undefined;
  } catch (error) {
    return error;
  }
}

function readOwner(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim() || 'unknown';
  } catch {
    return 'unknown';
  }
}
