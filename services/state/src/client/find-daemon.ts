import { readFile } from 'node:fs/promises';
import { credentials } from '@grpc/grpc-js';
import type { Target } from './daemon-client.ts';
import { type Command, Misuse } from './parse-command.ts';

/** Where the packaged units put it. */
const SYSTEM_SOCKET = '/run/croft/statesvc.sock';

/** Which daemon a command is for. @param socket the one of this machine @throws Misuse */
export async function findDaemon({ values }: Command, socket: string): Promise<Target> {
  const { address } = values;
  if (address === undefined) {
    const alone = (['ca', 'cert', 'key', 'token'] as const).find((flag) => values[flag] !== undefined);
    if (alone !== undefined) throw new Misuse(`--${alone} goes with --address`);
    return {
      address: `unix:${socket}`,
      credentials: credentials.createInsecure(),
      token: undefined,
      advice: `the state daemon does not answer on ${socket}. ${adviceFor(socket)}`,
    };
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
    throw new Misuse(`${path} cannot be read: ${error.message}`);
  });
}
