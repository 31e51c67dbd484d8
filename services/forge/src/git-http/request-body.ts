import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { timedOut, tooLarge, unacceptable } from '../failures.ts';

/** git compresses only short requests, never packs; a compressed one that gets larger than this is an attack. */
const MAX_INFLATED_BYTES = 32 * 1024 * 1024;

/**
 * The body of a git request as git wrote it, counted.
 * @param limits `totalMs` until it has come as a whole, for ever by default
 * @throws while it is read: 408 when nothing comes for the idle time or it takes longer than it may in all, 413 when it grows
 *   too large, and 422 when it is not what its encoding says
 */
export async function* plainBody(
  body: Readable,
  encoding: string | undefined,
  { maxBytes, idleMs, totalMs }: { maxBytes: number; idleMs: number; totalMs?: number },
): AsyncGenerator<Buffer> {
  const zipped = /^x?-?gzip$/.test(encoding ?? '');
  if (!zipped && encoding !== undefined && encoding !== 'identity') {
    throw unacceptable(`[]: Unsupported Content-Encoding ${encoding}`);
  }
  const limit = zipped ? Math.min(maxBytes, MAX_INFLATED_BYTES) : maxBytes;
  let bytes = 0;
  const sent = punctual(body, idleMs, totalMs);
  for await (const chunk of zipped ? inflated(sent) : sent) {
    bytes += (chunk as Buffer).length;
    if (bytes > limit) throw tooLarge(`the request is larger than ${limit} bytes`);
    yield chunk as Buffer;
  }
}

/**
 * Gives a program its input, whose chunks are of no use afterwards; once the program has ended the rest is read and
 * dropped, so that the answer arrives.
 */
export async function feed(source: AsyncIterable<Buffer>, stdin: Socket): Promise<void> {
  const closed = new AbortController();
  stdin.once('close', () => closed.abort());
  for await (const chunk of source) {
    if (stdin.destroyed || !stdin.writable || stdin.write(chunk, () => giveBack(chunk))) continue;
    await once(stdin, 'drain', { signal: closed.signal }).catch(() => {});
  }
  stdin.end();
}

/**
 * Frees the memory of a chunk. The garbage collector would, too, but counts it until then: every 10 MB of a push it would
 * go through everything we hold, which takes longer than all else we do for them.
 */
function giveBack({ buffer, byteLength }: Buffer): void {
  // Of shared memory others have their part.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** A body whose sender does not fall asleep; of the idle time what a reader takes does not count. */
async function* punctual(
  body: Readable,
  idleMs: number,
  totalMs = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer> {
  const end = performance.now() + totalMs;
  const chunks = body[Symbol.asyncIterator]();
  let ended = false;
  try {
    for (;;) {
      if (performance.now() >= end) throw timedOut();
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(() => late.reject(timedOut()), Math.min(idleMs, end - performance.now()));
      const next = await Promise.race([chunks.next(), late.promise]).finally(() => clearTimeout(timer));
      ended = next.done === true;
      if (next.done) return;
      yield next.value as Buffer;
    }
  } finally {
    if (!ended) body.destroy();
  }
}

async function* inflated(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  // A broken-off request ends the reading below with its error.
  pipeline(body, gunzip, () => {});
  try {
    yield* gunzip;
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw code.startsWith('Z_') ? unacceptable(`[]: the body is not gzip: ${message}`) : error;
  }
}
