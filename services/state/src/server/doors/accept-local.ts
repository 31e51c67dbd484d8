import type { Socket } from 'node:net';
import type { Log } from '@croft/runtime';
import type { PeerLookup } from '../../outside/identity/peer-lookup.ts';
import type { Caller } from '../../rules/access/access.ts';
import type { Connections } from './connections.ts';

/** Connections that may wait to be looked at; more are closed. */
const MAX_WAITING = 4096;

/** What a connection at the unix socket goes through. */
export interface LocalDoor {
  readonly connections: Connections;
  /** Undefined for a socket that only its owner and root can reach. */
  readonly lookup: PeerLookup | undefined;
  readonly log: Log;
  /** Hands the connection to the gRPC library. */
  readonly serve: (socket: Socket) => void;
}

/** Lets connections in once it is known whose they are. */
export function acceptLocal({
  connections,
  lookup,
  log,
  serve,
}: LocalDoor): (socket: Socket) => Promise<void> {
  const own = process.getuid?.() ?? 0;
  let warned = false;
  return async (socket) => {
    socket.on('error', () => {}); // closes it as well; while it waits nobody else listens
    if (lookup !== undefined && lookup.waiting >= MAX_WAITING) {
      socket.destroy();
      return;
    }
    const uid = lookup === undefined ? own : await lookup.uidOf(socket);
    if (uid === undefined && !warned) {
      log.warn(
        {},
        'it cannot be found out who connects to the socket (perl or python3 is needed for that), so everybody may only read',
      );
    }
    warned = uid === undefined;
    const caller: Caller = { kind: 'local', uid };
    if (!connections.hasRoom(caller)) {
      log.debug({ uid }, 'a connection was closed: this user has too many');
      socket.destroy();
    }
    if (socket.destroyed) return;
    connections.add(socket, caller);
    serve(socket);
    socket.resume();
  };
}
