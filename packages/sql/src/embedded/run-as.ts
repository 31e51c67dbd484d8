import { execFile } from 'node:child_process';
import { chmod, chown, lstat, readdir, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { StartError } from '@croft/runtime';
import { PATH } from './keeper.ts';
import { USE_YOUR_OWN } from './problems.ts';

/** Under which identity the server runs. */
export interface RunAs {
  /** Words before the command. */
  readonly prefix: readonly string[];
  /** For `spawn`. */
  readonly identity: { readonly uid?: number; readonly gid?: number };
}

/** `nobody`; on every Linux the number that user namespaces map strangers to. */
const NOBODY = 65_534;

const run = promisify(execFile);

const PLAIN: RunAs = { prefix: [], identity: {} };
const IN_NAMESPACE: RunAs = {
  prefix: ['unshare', '-U', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`],
  identity: {},
};

/**
 * PostgreSQL refuses to run as root. So when we are root it gets a user namespace in which we look unprivileged:
 * files stay root's, and folders that only root may enter work. Where user namespaces are blocked (most
 * containers) it runs as `nobody`, to whom the folder is given. A folder of another user is that user's to serve.
 */
export async function chooseIdentity(folder: string, postgres: string): Promise<RunAs> {
  if (process.getuid?.() !== 0) return !hasName() && (await mayUnshare()) ? IN_NAMESPACE : PLAIN;
  const owner = await stat(folder);
  if (owner.uid !== 0) return reachable({ uid: owner.uid, gid: owner.gid }, folder, postgres);
  if (await mayUnshare()) return IN_NAMESPACE;
  await letPass(dirname(folder));
  await give(folder, NOBODY, NOBODY);
  return reachable({ uid: NOBODY, gid: NOBODY }, folder, postgres);
}

/** initdb refuses a user whose number has no name, such as a container's arbitrary one; `nobody` has one. */
function hasName(): boolean {
  try {
    return userInfo().username !== '';
  } catch {
    return false;
  }
}

function mayUnshare(): Promise<boolean> {
  const [command, ...options] = IN_NAMESPACE.prefix as [string, ...string[]];
  return run(command, [...options, 'true'], { env: { PATH } }).then(
    () => true,
    () => false,
  );
}

/** The data folder above is 0700 and root's: others may pass through it now, still not look into it. */
async function letPass(parent: string): Promise<void> {
  const { uid, mode } = await stat(parent);
  if (uid === 0 && (mode & 0o077) === 0) await chmod(parent, 0o711);
}

async function give(path: string, uid: number, gid: number): Promise<void> {
  const entries = (await lstat(path)).isDirectory() ? await readdir(path) : [];
  for (const entry of entries) await give(join(path, entry), uid, gid);
  if (!(await lstat(path)).isSymbolicLink()) await chown(path, uid, gid);
}

async function reachable(
  identity: { uid: number; gid: number },
  folder: string,
  postgres: string,
): Promise<RunAs> {
  const runs = run(postgres, ['--version'], identity);
  const enters = run('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], identity);
  const [program, data] = await Promise.allSettled([runs, enters]);
  const blocked = program.status === 'rejected' ? postgres : data.status === 'rejected' ? folder : undefined;
  if (blocked === undefined) return { prefix: [], identity };
  throw new StartError(
    `PostgreSQL does not run as root, and user ${identity.uid}, which it would run as, cannot reach ${blocked}. ` +
      `Run Croft as an ordinary user, or move it out of folders that only root may enter, or ${USE_YOUR_OWN}.`,
  );
}
