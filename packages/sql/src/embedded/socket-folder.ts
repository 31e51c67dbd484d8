import { createHash } from 'node:crypto';
import { chmod, chown, lstat, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartError } from '@croft/runtime';

/** The port is only part of the socket's name. */
export const PORT = 5432;

/** `sizeof(sockaddr_un.sun_path) - 1` */
const MAX_SOCKET_PATH = process.platform === 'linux' ? 107 : 103;

/**
 * The folder of the server's socket, for nobody but us: `run` in the server's folder, or, when that path is too
 * long for a socket, a short one in the temporary folder. Whoever may enter it is the database's superuser, so a
 * folder somebody else put there is refused.
 */
export async function makeSocketFolder(folder: string, uid: number, gid: number): Promise<string> {
  const socketFolder = chooseSocketFolder(folder, tmpdir());
  await mkdir(socketFolder, { recursive: true, mode: 0o700 });
  const { uid: owner } = await lstat(socketFolder).then((stats) =>
    stats.isDirectory() ? stats : { uid: -1 },
  );
  const me = process.getuid?.() ?? owner;
  if (owner !== me && owner !== uid) {
    throw new StartError(
      `${socketFolder} belongs to somebody else, so PostgreSQL's socket cannot go there. Remove it, or choose a shorter path with CROFT_DATA.`,
    );
  }
  if (owner === me) await chmod(socketFolder, 0o700);
  if (me === 0 && owner !== uid) await chown(socketFolder, uid, gid);
  return socketFolder;
}

/** The first of three folders whose socket has a path that the kernel takes. */
export function chooseSocketFolder(folder: string, temporary: string): string {
  const short = `croft-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`;
  const candidates = [join(folder, 'run'), join(temporary, short), join('/tmp', short)];
  const fits = (candidate: string) =>
    Buffer.byteLength(join(candidate, `.s.PGSQL.${PORT}`)) <= MAX_SOCKET_PATH;
  return candidates.find(fits) as string;
}
