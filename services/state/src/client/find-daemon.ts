import { lstat, readFile, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { errorCode } from '../outside/storage/vault/files.ts';
import { isOpenToOthers, MAX_SOCKET_BYTES } from '../server/short-folder.ts';
import { closedSocket, DaemonRefused, type Target } from './daemon-client.ts';
import { FileTrouble } from './file-trouble.ts';
import { type Command, Misuse } from './parse-command.ts';
import type { CommandOptions } from './run-state-command.ts';

/** Where the packaged units put it. */
const SYSTEM_SOCKET = '/run/croft/statesvc.sock';

/** Which daemon a command is for. @param options its socket on this machine @throws Misuse, FileTrouble, DaemonRefused */
export async function findDaemon(
  { values }: Command,
  { socket, owners }: Pick<CommandOptions, 'socket' | 'owners'>,
): Promise<Target> {
  const { address } = values;
  if (address === undefined) {
    const alone = (['ca', 'cert', 'key', 'token'] as const).find((flag) => values[flag] !== undefined);
    if (alone !== undefined) throw new Misuse(`--${alone} goes with --address`);
    const advice = `the state daemon does not answer on ${socket}. ${adviceFor(socket)}`;
    await checkFolder(dirname(socket), advice);
    const path = owners === undefined ? socket : await checkOwner(socket, owners, advice);
    return { address: `unix:${path}`, credentials: credentials.createInsecure(), token: undefined, advice };
  }
  if (!/^[^/]+:\d{1,5}$/.test(address))
    throw new Misuse('--address is host:port, such as backup.example:7070');
  if ((values.cert === undefined) !== (values.key === undefined))
    throw new Misuse('--cert and --key go together');
  const [ca, cert, key, token] = await Promise.all(
    [values.ca, values.cert, values.key, values.token].map(readGiven),
  );
  return {
    address: `dns:${address}`,
    credentials: credentials.createSsl(ca, key, cert),
    token: token?.toString().trim() || undefined,
    advice: `the state daemon does not answer at ${address}, or not with a certificate that --ca vouches for under this name. See whether the name is right, and STATESVC_LISTEN is set there.`,
  };
}

/**
 * A data folder with a long path has its socket in a folder of its own, whose name anybody can tell: among the temporary files
 * somebody else may have made it, and would be taken for the daemon.
 * @throws DaemonRefused
 */
async function checkFolder(folder: string, advice: string): Promise<void> {
  if (!isOpenToOthers(folder)) return;
  const stat = await lstat(folder).catch(() => undefined);
  if (stat === undefined) throw new DaemonRefused(advice);
  const isOurs = stat.isDirectory() && [0, process.getuid?.()].includes(stat.uid);
  if (!isOurs)
    throw new DaemonRefused(
      `${folder} was made by somebody else, who may want to be taken for the state daemon`,
    );
}

/**
 * A daemon that is found by where somebody stands is one he may speak to: root in a folder of somebody else would tell that one
 * what he saves, and restore as root what it says.
 * @returns the socket without links, which could lead elsewhere by the time it is used
 * @throws DaemonRefused
 */
async function checkOwner(socket: string, owners: readonly number[], advice: string): Promise<string> {
  try {
    const path = await realpath(socket);
    for (const at of [dirname(path), path]) {
      const { uid } = await lstat(at);
      if (!owners.includes(uid))
        throw new DaemonRefused(
          `${at} belongs to another user (uid ${uid}), and nobody you trust named it: a state daemon of his could tell you anything. When you mean it, say so: STATESVC_SOCKET=${socket} croft state …`,
        );
    }
    // A link may make a path short that is too long for a socket.
    return Buffer.byteLength(path) > MAX_SOCKET_BYTES ? socket : path;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    throw new DaemonRefused(errorCode(error) === 'EACCES' ? closedSocket(socket) : advice, { cause: error });
  }
}

/** The system's daemon is started by systemd, any other by whoever set Croft up. */
function adviceFor(socket: string): string {
  return socket === SYSTEM_SOCKET
    ? 'See why with `systemctl status croft-state`, and start it with `systemctl start croft-state`.'
    : 'Start it with `npm start` (or `npm start -- state` for it alone), as the user who runs this command.';
}

/** Secrets come from files: what stands on a command line, everybody on the machine can read. */
async function readGiven(path: string | undefined): Promise<Buffer | null> {
  if (path === undefined) return null;
  return await readFile(path).catch((error: Error) => {
    throw new FileTrouble(`${path} cannot be read: ${error.message}`);
  });
}
