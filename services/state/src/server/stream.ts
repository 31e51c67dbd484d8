import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerDuplexStream, ServerWritableStream } from '@grpc/grpc-js';
import { counted } from '../rules/machines/sizes.ts';

/** Lines that wait for a client that reads slowly; what comes on top is counted and left out. */
const MAX_WAITING = 10_000;
/** A client that took nothing for so long does not hold up the end of a call that failed. */
const STALLED_MS = 2000;
/** So many more are handed on when the call says that it has enough, so that they leave together. */
const TOGETHER = 256;

/**
 * The answers of one call on their way to the client, in order and no faster than it reads. A writer never waits for a
 * client: nobody may hold a machine by not reading.
 */
export class Stream {
  readonly #call: ServerWritableStream<unknown, unknown> | ServerDuplexStream<unknown, unknown>;
  readonly #waiting: object[] = [];
  #leftOut = 0;
  /** Handed on since the call said that it has enough. */
  #ahead = 0;
  /** Messages that the client has taken of those that were sent together. */
  #taken = 0;
  #pumping: Promise<void> | undefined;

  constructor(call: ServerWritableStream<unknown, unknown> | ServerDuplexStream<unknown, unknown>) {
    this.#call = call;
    sendTogether(call, () => this.#taken++);
  }

  /** Sends a line, now or when the client has read what is before it. */
  line(text: string): void {
    if (this.#waiting.length >= MAX_WAITING) this.#leftOut++;
    else this.#push({ log: text });
  }

  /**
   * Sends the results, which come last, each when the client has taken what is before it, and ends when it has everything.
   * @throws the signal's reason
   */
  async finish(results: Iterable<object> | AsyncIterable<object>, signal: AbortSignal): Promise<void> {
    for await (const result of results) {
      this.#tellLeftOut();
      this.#push(result);
      await untilAborted(this.#pumping, signal);
    }
    this.#tellLeftOut();
    await untilAborted(this.#pumping, signal);
  }

  /** Sends the lines that wait, as long as the client reads. */
  async flush(): Promise<void> {
    this.#tellLeftOut();
    const progress = () => this.#taken - this.#waiting.length;
    for (let before = Number.NaN; this.#pumping !== undefined && progress() !== before; ) {
      before = progress();
      await Promise.race([this.#pumping, sleep(STALLED_MS, undefined, { ref: false })]);
    }
    this.#waiting.length = 0;
  }

  #tellLeftOut(): void {
    if (this.#leftOut === 0) return;
    this.#push({
      log: `${counted(this.#leftOut, 'line was', 'lines were')} left out: the client reads too slowly`,
    });
    this.#leftOut = 0;
  }

  #push(message: object): void {
    this.#waiting.push(message);
    this.#pumping ??= this.#pump();
  }

  async #pump(): Promise<void> {
    // Whoever says more in this turn says it before anything is sent.
    await Promise.resolve();
    for (let message = this.#waiting.shift(); message !== undefined; message = this.#waiting.shift()) {
      if (this.#call.cancelled || this.#call.destroyed) break;
      // Results may be large, and nobody is to have many of them made without taking any.
      if (this.#call.write(message)) this.#ahead = 0;
      else if (++this.#ahead >= TOGETHER || !isLine(message)) await this.#room();
    }
    // With the last look at what waits, so that nothing comes in between and stays.
    this.#pumping = undefined;
  }

  /** The client has taken what it was sent; a call that ends meanwhile never says so. */
  #room(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#call.off('drain', done);
        this.#call.off('cancelled', done);
        resolve();
      };
      this.#call.once('drain', done);
      this.#call.once('cancelled', done);
    });
  }
}

/**
 * Has a call send the lines that wait in one piece: the library hands each message on when the one before has left, and waiting for
 * each of thousands takes most of the time that they take. Of results, which may be large, one is made at a time.
 */
function sendTogether(call: Writable, taken: () => void): void {
  const write = ({ chunk, encoding }: Chunk) =>
    new Promise<void>((resolve, reject) => {
      call._write(chunk, encoding, (error) => {
        taken();
        if (error == null) resolve();
        else reject(error);
      });
    });
  call._writev = (chunks, done) => {
    const send = async () => {
      for (const run of runsOf(chunks)) await Promise.all(run.map(write));
    };
    send().then(() => done(), done);
  };
}

interface Chunk {
  readonly chunk: unknown;
  readonly encoding: BufferEncoding;
}

/** Lines that follow each other, and every other message by itself. */
function* runsOf(chunks: readonly Chunk[]): Generator<readonly Chunk[]> {
  let lines: Chunk[] = [];
  for (const each of chunks) {
    if (isLine(each.chunk)) {
      lines.push(each);
      continue;
    }
    yield lines;
    lines = [];
    yield [each];
  }
  yield lines;
}

function isLine(message: unknown): boolean {
  return 'log' in (message as object);
}

/** Waits for work that goes on, or until the signal says not to. */
async function untilAborted(work: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (work === undefined) return;
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  try {
    await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
