import type { AccessTokens } from '@croft/access-token';
import { type Clock, type Log, StartError } from '@croft/runtime';
import type { Secret } from '@croft/settings';
import type { Directory } from '../../outside/identity/directory.ts';
import { type LookupProgram, PeerLookup } from '../../outside/identity/peer-lookup.ts';
import type { LateAddresses } from '../../outside/late-addresses.ts';
import type { StateSettings } from '../../settings.ts';
import type { ServerOptions } from '../grpc-server.ts';
import { socketPath } from '../socket-path.ts';
import { AccessControl } from './access-control.ts';
import { Connections } from './connections.ts';
import { TlsFiles } from './tls-files.ts';

/** How callers reach the daemon, besides its settings. */
export interface DoorOptions {
  /** The descriptor of a socket that systemd made and passed on. */
  readonly activatedSocket?: number | undefined;
  /** What access tokens are verified with when `JWT_SECRET` is not set, and whose bearers administrate. */
  readonly tokens?: { readonly secret: Secret | undefined; readonly adminRoles: readonly string[] };
  /** Who finds out the uids of connections; perl or python3 unless told otherwise. */
  readonly lookupPrograms?: readonly LookupProgram[];
}

/** Where the daemon is to listen, and who may do what there. */
export interface Doors extends ServerOptions {
  readonly files: TlsFiles | undefined;
}

/** @throws StartError, INVALID_ARGUMENT when the settings do not go together or a file cannot be used */
export async function openDoors(
  settings: StateSettings,
  folder: string,
  {
    log,
    clock,
    late,
    directory,
    activatedSocket,
    tokens: given,
    lookupPrograms,
  }: DoorOptions & {
    log: Log;
    clock: Clock;
    late: LateAddresses;
    directory: Directory;
  },
): Promise<Doors> {
  const isPrivate = settings.SOCKET_MODE === '0600' && activatedSocket === undefined;
  if (!isPrivate && settings.SOCKET === undefined) {
    throw new StartError(
      'a socket for every user needs a place outside of the data folder: set STATESVC_SOCKET, such as /run/croft/statesvc.sock.',
    );
  }
  const connections = new Connections();
  const files = settings.LISTEN === undefined ? undefined : await TlsFiles.open(settings);
  const tokens = files === undefined ? undefined : await readTokens(settings, given?.secret, clock);
  if (files !== undefined && files.content.ca === undefined && tokens === undefined) {
    throw new StartError(
      'STATESVC_LISTEN: nobody could be let in there. Set STATESVC_TLS_CLIENT_CA, STATESVC_JWT_SECRET or STATESVC_JWT_KEYS.',
    );
  }
  return {
    socket: {
      path: socketPath(settings, folder),
      mode: Number.parseInt(settings.SOCKET_MODE, 8),
      descriptor: activatedSocket,
    },
    tls:
      files === undefined || settings.LISTEN === undefined
        ? undefined
        : { ...settings.LISTEN, files, admins: settings.TLS_ADMINS },
    files,
    connections,
    lookup: isPrivate ? undefined : new PeerLookup(settings.SEARCH_PATH, lookupPrograms),
    log,
    late,
    access: new AccessControl({
      connections,
      tokens,
      adminRoles: given?.adminRoles ?? [],
      directory,
      adminGroup: settings.ADMIN_GROUP,
    }),
  };
}

async function readTokens(
  settings: StateSettings,
  house: Secret | undefined,
  clock: Clock,
): Promise<AccessTokens | undefined> {
  const secret = (settings.JWT_SECRET ?? house)?.reveal();
  const { JWT_KEYS: keys, JWT_VALID_METHODS: algorithms } = settings;
  if (secret === undefined && keys === undefined) return undefined;
  // Not loaded by a daemon of this machine alone, which shall start quickly.
  const { accessTokens, readJwtKeys } = await import('@croft/access-token');
  try {
    return accessTokens(
      { secret, keys: keys === undefined ? undefined : readJwtKeys(keys.reveal()), algorithms },
      () => clock.now().getTime(),
    );
  } catch (error) {
    throw new StartError(`the keys of access tokens (STATESVC_JWT_KEYS): ${(error as Error).message}`);
  }
}
