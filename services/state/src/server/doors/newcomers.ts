import type { Socket } from 'node:net';

/** How long somebody may stay without showing who he is; a handshake is part of it. */
const IDENTIFY_MS = 30_000;
/** Those who have not shown it; when more come, the one that is longest there goes. */
const MAX_NEWCOMERS = 64;

/** Connections over TCP of which nobody knows whose they are, apart from the others, so that they cannot keep those out. */
export class Newcomers {
  readonly #sockets = new Map<string, Socket>();

  /** Takes note of a connection; it is closed when it stays unknown. */
  arrive(socket: Socket): void {
    const name = addressOf(socket);
    const timer = setTimeout(() => this.#close(name), IDENTIFY_MS).unref();
    socket.once('close', () => {
      clearTimeout(timer);
      if (this.#sockets.get(name) === socket) this.#sockets.delete(name);
    });
    this.#sockets.set(name, socket);
    const [oldest] = this.#sockets.keys();
    if (this.#sockets.size > MAX_NEWCOMERS && oldest !== undefined) this.#close(oldest);
  }

  /** Now it is known whose connection it is. @param name its `addressOf`, from before anybody changed it */
  leave(name: string): void {
    this.#sockets.delete(name);
  }

  #close(name: string): void {
    this.#sockets.get(name)?.destroy();
    this.#sockets.delete(name);
  }
}

/** What the socket of a TCP connection and the TLS socket made from it have in common. */
export function addressOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
