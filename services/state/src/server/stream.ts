import type { ServerWritableStream } from '@grpc/grpc-js';

/** Lines that wait for a client that reads slowly; what comes on top is counted and left out. */
const MAX_WAITING = 10_000;

/**
 * The answers of one call on their way to the client, in order and no faster than it reads. A writer never waits for a
 * client: nobody may hold a machine by not reading.
 */
export class Stream {
  readonly #call: ServerWritableStream<unknown, unknown>;
  readonly #waiting: object[] = [];
  #leftOut = 0;
  #pumping: Promise<void> | undefined;

  constructor(call: ServerWritableStream<unknown, unknown>) {
    this.#call = call;
  }

  /** Sends a line, now or when the client has read what is before it. */
  line(text: string): void {
    if (this.#waiting.length >= MAX_WAITING) this.#leftOut++;
    else this.#push({ log: text });
  }

  /** Sends the results, which come last, and ends when the client has everything. */
  async finish(results: readonly object[]): Promise<void> {
    if (this.#leftOut > 0)
      this.#push({ log: `${this.#leftOut} lines were left out: the client reads too slowly` });
    for (const result of results) this.#push(result);
    await this.#pumping;
  }

  #push(message: object): void {
    this.#waiting.push(message);
    this.#pumping ??= this.#pump().finally(() => {
      this.#pumping = undefined;
    });
  }

  async #pump(): Promise<void> {
    for (let message = this.#waiting.shift(); message !== undefined; message = this.#waiting.shift()) {
      if (this.#call.cancelled || this.#call.destroyed) return;
      await this.#write(message);
    }
  }

  #write(message: object): Promise<void> {
    return new Promise((resolve) => {
      // The callback comes when the message is on its way; a call that ends meanwhile never calls back.
      const ended = () => resolve();
      this.#call.once('cancelled', ended);
      this.#call.write(message, () => {
        this.#call.off('cancelled', ended);
        resolve();
      });
    });
  }
}
