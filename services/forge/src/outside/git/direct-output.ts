import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Writable } from 'node:stream';

/** About what the kernel keeps of a socket: one turn empties it. */
const BUFFER_BYTES = 256 * 1024;
/**
 * git writes a few kilobytes at a time. Whoever reads each of them at once wakes two processes for it, a dozen times a
 * megabyte; who looks a moment later finds what is worth a turn. The kernel keeps more than a fast disk gives meanwhile.
 */
const FULL_BYTES = 64 * 1024;
const GATHERING_MS = 1;
/** Small answers do not wait. */
const HURRIED_BYTES = 256 * 1024;

/**
 * What a program writes, to be passed on as it is. Streams allocate memory for each chunk, and after 64 MB the garbage
 * collector goes through everything we hold: half of the time of a clone. This reads into one buffer, again and again,
 * and reads on when the buffer was written.
 */
export class DirectOutput {
  /** The first bytes, which are not the program's. */
  readonly greeting: Promise<string>;
  /** Settles when the program has written something or has ended. */
  readonly begun: Promise<void>;
  readonly #socket: Socket;
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  readonly #greeted = Promise.withResolvers<string>();
  readonly #begun = Promise.withResolvers<void>();
  #isGreeted = false;
  #held = 0;
  #take: (bytes: number) => void;

  constructor(path: string) {
    this.greeting = this.#greeted.promise;
    this.begun = this.#begun.promise;
    this.#take = (bytes) => {
      this.#held = bytes;
    };
    const callback = (bytes: number) => this.#receive(bytes);
    this.#socket = connect({ path, onread: { buffer: this.#buffer, callback } });
    this.#socket.on('error', (error) => this.#greeted.reject(error));
    this.#socket.on('close', () => {
      this.#greeted.reject(new Error('the git broker ended'));
      this.#begun.resolve();
    });
  }

  get bytesRead(): number {
    return this.#socket.bytesRead;
  }

  /**
   * Passes everything on, as fast as it is taken, until the program or the reader has ended. A chunk must not be used any
   * more once its write has called back.
   */
  async copyTo(target: Writable): Promise<void> {
    if (this.#socket.destroyed) return;
    // Also by an error: what is missing then the reader notices.
    const closed = once(this.#socket, 'close').catch(() => {});
    this.#take = (bytes) => {
      target.write(this.#buffer.subarray(0, bytes), (error) => {
        if (error) this.destroy();
        else if (bytes >= FULL_BYTES || this.bytesRead < HURRIED_BYTES) this.#socket.resume();
        else setTimeout(() => this.#socket.resume(), GATHERING_MS);
      });
    };
    target.once('close', () => this.destroy());
    if (this.#held > 0) this.#take(this.#held);
    await closed;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** False: not to be asked again before the buffer is free. */
  #receive(bytes: number): boolean {
    if (!this.#isGreeted) {
      this.#isGreeted = true;
      // The program is started by this name, so nothing of its own can be here yet.
      this.#greeted.resolve(this.#buffer.toString('latin1', 0, bytes));
      return true;
    }
    this.#begun.resolve();
    this.#take(bytes);
    return false;
  }
}
