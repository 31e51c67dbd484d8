import { chmod, lstat, mkdir, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { StartError } from '@croft/runtime';

/**
 * Listens on a unix socket that only its owner can connect to, from the first moment on.
 * @throws StartError when somebody listens there already or something else is in the way
 */
export async function listenPrivately(path: string, accept: (socket: Socket) => void): Promise<Server> {
  await prepareFolder(dirname(path));
  await removeStale(path);
  const server = createServer(accept);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.once('listening', resolve);
  // Node binds before `listen` returns, so nothing else of the process can meet this umask.
  const umask = process.umask(0o177);
  try {
    server.listen(path);
  } finally {
    process.umask(umask);
  }
  await promise.catch((error: Error) => {
    throw new StartError(
      `cannot listen on ${path}: ${error.message}. STATESVC_SOCKET chooses another place.`,
    );
  });
  await chmod(path, 0o600);
  return server;
}

/** A folder that is not there is made private; one that is there keeps its mode, but must not be somebody else's trap. */
async function prepareFolder(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: Error) => {
    throw new StartError(`the socket's folder ${folder} cannot be made: ${error.message}`);
  });
  if (made !== undefined) return;
  const stat = await lstat(folder);
  const uid = process.getuid?.() ?? stat.uid;
  const foreign = stat.uid !== uid && stat.uid !== 0;
  // A sticky folder such as /tmp itself is writable by others, who could then put their own socket in our place.
  if (!stat.isDirectory() || foreign || (stat.mode & 0o002) !== 0) {
    throw new StartError(
      `the socket's folder ${folder} is a link, belongs to somebody else or can be written by everybody. Remove it, or choose another place with STATESVC_SOCKET.`,
    );
  }
}

/** Removes the socket of a daemon that is no more. */
async function removeStale(path: string): Promise<void> {
  const stat = await lstat(path).catch(() => undefined);
  if (stat === undefined) return;
  if (!stat.isSocket()) {
    throw new StartError(
      `${path} is there and is no socket; it was left alone. Remove it, or set STATESVC_SOCKET.`,
    );
  }
  if (await answers(path)) {
    throw new StartError(
      `another daemon listens on ${path}. Stop that one, or choose another place with STATESVC_SOCKET.`,
    );
  }
  await rm(path, { force: true });
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
