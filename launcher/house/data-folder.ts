import { chmodSync, existsSync, readdirSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { lockFolder, makeFolder, StartError } from '@croft/runtime';

const MIB = 2 ** 20;
const TOO_LITTLE = 50 * MIB;
const LITTLE = 1024 * MIB;

/**
 * Looks at the disk the data folder is or will be on.
 * @param needsRoom whether what starts cannot do without; the state daemon can, which is what makes room on a full disk
 * @returns a warning when there is little room
 * @throws FolderInUse when there is next to none and another Croft has the folder: tasks work beside that one all the same
 * @throws StartError when there is next to none
 */
export async function checkSpace(folder: string, needsRoom: boolean): Promise<string | undefined> {
  const { bavail, bsize } = await roomAt(folder);
  const free = bavail * bsize;
  const mebibytes = `${Math.floor(free / MIB)} MiB`;
  if (free < TOO_LITTLE && needsRoom) {
    if (statSync(join(folder, 'lock'), { throwIfNoEntry: false }) !== undefined)
      takeDataFolder(folder)[Symbol.dispose]();
    throw new StartError(
      `The disk of ${folder} has ${mebibytes} left, and Croft does not start with less than 50. Free some space, or choose another folder with CROFT_DATA.`,
    );
  }
  return free < LITTLE ? `the disk of ${folder} has only ${mebibytes} left` : undefined;
}

async function roomAt(folder: string): Promise<{ bavail: number; bsize: number }> {
  try {
    return await statfs(nearestExisting(folder));
  } catch (error) {
    throw explain(error as NodeJS.ErrnoException, folder);
  }
}

/**
 * Makes the data folder when it is missing, closes it to others and takes it for the life of this process.
 * @throws FolderInUse when another Croft has it
 * @throws StartError when it is somebody else's, such as `/srv`
 */
export function takeDataFolder(folder: string): Disposable {
  try {
    makeFolder(folder);
    refuseForeign(folder);
    // 0711 is what the embedded PostgreSQL needs where it runs as `nobody`.
    const mode = statSync(folder).mode & 0o777;
    if (mode !== 0o700 && mode !== 0o711) chmodSync(folder, 0o700);
    return lockFolder(folder, 'The data folder');
  } catch (error) {
    throw explain(error as NodeJS.ErrnoException, folder);
  }
}

/** Any of these makes a folder a data folder; nobody else has them so. */
const OURS = ['secrets.json', 'forge-id', 'postgres/cluster/PG_VERSION', 'state/journal.jsonl'];
/** So does one of these in `repositories`, which may be all there is of a backup. */
const REPOSITORY = /^\d+\.git$/;
/** Left by a start that got no further, by a task that ran before the first one, and by `mkfs`. */
const NOBODYS = [
  'lock',
  'lock-journal',
  'lock.pid',
  'croft.log',
  'croft.log.1',
  'secrets.json.tmp',
  'lost+found',
];

function refuseForeign(folder: string): void {
  const names = readdirSync(folder);
  if (OURS.some((path) => existsSync(join(folder, path)))) return;
  const repositories = names.includes('repositories') ? readdirSync(join(folder, 'repositories')) : [];
  if (repositories.some((name) => REPOSITORY.test(name))) return;
  // A backup may have had none.
  const isNobodys = (name: string) =>
    NOBODYS.includes(name) || (name === 'repositories' && repositories.length === 0);
  if (names.every(isNobodys)) return;
  throw new StartError(
    `The folder ${folder} holds other things and no Croft. Choose an empty or a new one with CROFT_DATA.`,
  );
}

function explain(error: NodeJS.ErrnoException, folder: string): Error {
  const wayOut = 'choose another folder with CROFT_DATA.';
  const code = error.code ?? '';
  if (code === 'EROFS') {
    return new StartError(`The data folder ${folder} is on a read-only file system: ${wayOut}`);
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return new StartError(
      `The data folder ${folder} cannot be used by this user: give it to the user that runs Croft, or ${wayOut}`,
    );
  }
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new StartError(`The disk of the data folder ${folder} is full: free some space, or ${wayOut}`);
  }
  if (code === 'EIO') {
    return new StartError(`The disk of the data folder ${folder} fails: look after it, or ${wayOut}`);
  }
  if (code === 'ENOENT' || (code === 'EEXIST' && !existsSync(folder))) {
    return new StartError(
      `The data folder ${folder} cannot be made: it, or a folder on the way, is a link to what is not there, such as a disk that is not mounted, or a place where nobody can make folders. Mount it, or ${wayOut}`,
    );
  }
  if (code === 'EEXIST' || code === 'ENOTDIR') {
    return new StartError(`The data folder ${folder} is a file, or below one: ${wayOut}`);
  }
  return error;
}

function nearestExisting(folder: string): string {
  const exists = statSync(folder, { throwIfNoEntry: false }) !== undefined;
  return exists || dirname(folder) === folder ? folder : nearestExisting(dirname(folder));
}
