import type { Socket } from 'node:net';
import type { Caller } from '../../rules/access/access.ts';

/** Who is at the other end of each connection. The gRPC library shows a call no more than its peer's address, so that is a key. */
export class Connections {
  readonly #callers = new Map<string, Caller>();
  #made = 0;

  /** Remembers who is there until the connection closes. Nobody outside has a say in the key. */
  add(socket: Socket, caller: Caller): void {
    const key = `connection-${++this.#made}`;
    Object.defineProperties(socket, { remoteAddress: { value: key }, remotePort: { value: undefined } });
    this.#callers.set(key, caller);
    socket.once('close', () => this.#callers.delete(key));
  }

  /** Who calls; `undefined` for a connection that is gone. @param peer what `getPeer` of the call says */
  find(peer: string): Caller | undefined {
    return this.#callers.get(peer);
  }

  /** How many connections a uid has at the unix socket; without one, those that nobody knows. */
  countOf(uid: number | undefined): number {
    let count = 0;
    for (const caller of this.#callers.values()) if (caller.kind === 'local' && caller.uid === uid) count++;
    return count;
  }
}
