import { once } from 'node:events';
import { chmod, lstat, mkdir, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { StartError } from '@croft/runtime';

/** Connections that the kernel keeps until they are accepted, as many as Linux permits; on top of them it refuses everybody. */
const BACKLOG = 4096;

/** Where the daemon listens for the users of this machine. */
export interface SocketPlace {
  readonly path: string;
  /** `0o600`: its owner alone; `0o666`: every user of this machine. */
  readonly mode: number;
  /** The descriptor of a socket that listens already, because systemd made it. */
  readonly descriptor: number | undefined;
}

/** What `listenOnSocket` would refuse, without changing anything. @throws StartError */
export async function checkSocketPlace({ path, descriptor }: SocketPlace): Promise<void> {
  if (descriptor !== undefined) return;
  const folder = dirname(path);
  // One that is not there is made.
  if ((await lstat(folder).catch(() => undefined)) !== undefined) await checkFolder(folder);
  await isStale(path);
}

/**
 * Listens on a unix socket that has its mode from the first moment on. Connections are handed on before anything is read from them.
 * @throws StartError when somebody listens there already or something else is in the way
 */
export async function listenOnSocket(
  { path, mode, descriptor }: SocketPlace,
  accept: (socket: Socket) => void,
): Promise<Server> {
  const server = createServer({ pauseOnConnect: true }, accept);
  if (descriptor === undefined) {
    await prepareFolder(dirname(path), mode);
    if (await isStale(path)) await rm(path, { force: true });
    // Node binds before `listen` returns, so nothing else of the process can meet this umask.
    const umask = process.umask(0o777 & ~mode);
    try {
      server.listen({ path, backlog: BACKLOG });
    } finally {
      process.umask(umask);
    }
  } else server.listen({ fd: descriptor });
  await once(server, 'listening').catch((error: Error) => {
    throw new StartError(
      `cannot listen on ${path}: ${error.message}. STATESVC_SOCKET chooses another place.`,
    );
  });
  // A folder with rules of its own (default ACLs) does not heed the mask.
  if (descriptor === undefined) await chmod(path, mode);
  return server;
}

/** A folder that is not there is made, and who may use the socket may enter it; one that is there keeps its mode, but must not be somebody else's trap. */
async function prepareFolder(folder: string, mode: number): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: Error) => {
    throw new StartError(`the socket's folder ${folder} cannot be made: ${error.message}`);
  });
  if (made !== undefined) {
    const forOthers = (mode & 0o007) !== 0;
    if (forOthers) await chmod(folder, 0o755);
    return;
  }
  await checkFolder(folder);
}

async function checkFolder(folder: string): Promise<void> {
  const stat = await lstat(folder);
  const uid = process.getuid?.() ?? stat.uid;
  const foreign = stat.uid !== uid && stat.uid !== 0;
  // A sticky folder such as /tmp itself is writable by others, who could then put their own socket in our place.
  if (!stat.isDirectory() || foreign || (stat.mode & 0o002) !== 0) {
    throw new StartError(
      `the socket's folder ${folder} is a link, belongs to somebody else or can be written by everybody. Start Croft as the user whose folder it is, take the right to write from others (chmod o-w), or choose another place with STATESVC_SOCKET.`,
    );
  }
}

/** Whether a socket of a daemon that is no more lies there. @throws StartError when something else does */
async function isStale(path: string): Promise<boolean> {
  const stat = await lstat(path).catch(() => undefined);
  if (stat === undefined) return false;
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
  return true;
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
