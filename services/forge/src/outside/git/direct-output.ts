import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Left free around what was read, for whoever passes it on in frames. */
const ROOM_BYTES = 16;
/** About what the kernel keeps of a socket: one turn empties it. */
const BUFFER_BYTES = 256 * 1024;
/**
 * git writes a few kilobytes at a time. Whoever reads each of them at once wakes two processes for it, a dozen times a
 * megabyte; who looks some turns of the loop later finds what is worth it. A timer is too slow: within its shortest
 * millisecond git fills the socket and waits. Clones reach 1.02 of `git upload-pack` run directly, with a millisecond 0.81,
 * at once 0.91 (paired medians of 12 rounds beside other work; 1 to 20 turns and 16 to 64 KiB are all between 0.92 and 1.02).
 */
const FULL_BYTES = 24 * 1024;
const GATHERING_TURNS = 3;
/** Small answers do not wait. */
const HURRIED_BYTES = 256 * 1024;

/** Where an output is passed on to, such as the answer to a request. */
export interface OutputTarget {
  /**
   * Takes some bytes of a memory, in which what is around them may be written to.
   * @returns whether the memory is free again at once; else it is when `done` is called. An error is told in either case
   */
  take(
    chunk: { readonly memory: Buffer; readonly start: number; readonly end: number },
    done: (error?: Error | null) => void,
  ): boolean;
  /** Called when nobody reads any more. */
  once(event: 'close', listener: () => void): void;
}

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
  readonly #memory = Buffer.allocUnsafeSlow(ROOM_BYTES + BUFFER_BYTES + ROOM_BYTES);
  readonly #buffer = this.#memory.subarray(ROOM_BYTES, ROOM_BYTES + BUFFER_BYTES);
  readonly #greeted = Promise.withResolvers<string>();
  readonly #begun = Promise.withResolvers<void>();
  #isGreeted = false;
  #held = 0;
  /** Says whether to read on at once. */
  #take: (bytes: number) => boolean;

  constructor(path: string) {
    this.greeting = this.#greeted.promise;
    this.begun = this.#begun.promise;
    this.#take = (bytes) => {
      this.#held = bytes;
      return false;
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
   * more once the target says that it is free.
   */
  async copyTo(target: OutputTarget): Promise<void> {
    if (this.#socket.destroyed) return;
    // Also by an error: what is missing then the reader notices.
    const closed = once(this.#socket, 'close').catch(() => {});
    const done = (error?: Error | null) => void (error ? this.destroy() : this.#socket.resume());
    this.#take = (bytes) => {
      const chunk = { memory: this.#memory, start: ROOM_BYTES, end: ROOM_BYTES + bytes };
      const isFree = target.take(chunk, done);
      if (!isFree || bytes >= FULL_BYTES || this.bytesRead < HURRIED_BYTES) return isFree;
      afterTurns(GATHERING_TURNS, () => this.#socket.resume());
      return false;
    };
    target.once('close', () => this.destroy());
    if (this.#held > 0 && this.#take(this.#held)) this.#socket.resume();
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
    return this.#take(bytes);
  }
}

/** Calls once the loop has looked after everything else so many times. */
function afterTurns(turns: number, call: () => void): void {
  setImmediate(() => (turns > 1 ? afterTurns(turns - 1, call) : call()));
}
