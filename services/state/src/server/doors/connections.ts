import type { Socket } from 'node:net';
import { type Caller, callerText, isBornAdministrator } from '../../rules/access/access.ts';

/**
 * Connections of one caller, and of all local ones that nobody knows, so that nobody uses up what the daemon may have open.
 * Administrators by themselves have no limit.
 */
const MAX_PER_CALLER = 64;
/** How long an answer gets to leave on a connection whose rights were taken. */
const FLUSH_MS = 500;

interface Connection {
  readonly socket: Socket;
  caller: Caller;
  /** On whose account it goes. */
  readonly holder: string;
  readonly identified: (() => void) | undefined;
}

/** Who is at the other end of each connection. The gRPC library shows a call no more than its peer's address, so that is a key. */
export class Connections {
  readonly #connections = new Map<string, Connection>();
  readonly #daemonUid = process.getuid?.();
  #made = 0;

  /**
   * Remembers who is there until the connection closes. Nobody outside has a say in the key.
   * @param identified called when somebody who came as a stranger shows an administrator's token
   */
  add(socket: Socket, caller: Caller, identified?: () => void): void {
    const key = `connection-${++this.#made}`;
    Object.defineProperties(socket, { remoteAddress: { value: key }, remotePort: { value: undefined } });
    this.#connections.set(key, { socket, caller, holder: callerText(caller), identified });
    socket.once('close', () => this.#connections.delete(key));
  }

  /** Who calls; `undefined` for a connection that is gone. @param peer what `getPeer` of the call says */
  find(peer: string): Caller | undefined {
    return this.#connections.get(peer)?.caller;
  }

  /** A call on the connection showed an administrator's token. */
  identify(peer: string): void {
    this.#connections.get(peer)?.identified?.();
  }

  /** Whether a caller may have one more connection. */
  hasRoom(caller: Caller): boolean {
    if (isBornAdministrator(caller, this.#daemonUid)) return true;
    const holder = callerText(caller);
    let count = 0;
    for (const connection of this.#connections.values()) if (connection.holder === holder) count++;
    return count < MAX_PER_CALLER;
  }

  /** Takes the rights of every connection over TLS at once, and closes it when what was answered has left. */
  revokeRemote(why: string): void {
    for (const connection of this.#connections.values()) {
      if (connection.caller.kind === 'local') continue;
      connection.caller = { kind: 'stranger', why };
      setTimeout(() => connection.socket.destroy(), FLUSH_MS).unref();
    }
  }
}
