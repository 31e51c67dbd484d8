import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { tooLarge, unacceptable } from '../failures.ts';

/** git compresses only short requests, never packs; a compressed one that gets larger than this is an attack. */
const MAX_INFLATED_BYTES = 32 * 1024 * 1024;

/**
 * The body of a git request as git wrote it, counted.
 * @throws 413 while it is read, when it grows too large, and 422 when it is not what its encoding says
 */
export async function* plainBody(
  body: Readable,
  encoding: string | undefined,
  maxBytes: number,
): AsyncGenerator<Buffer> {
  const zipped = /^x?-?gzip$/.test(encoding ?? '');
  if (!zipped && encoding !== undefined && encoding !== 'identity') {
    throw unacceptable(`[]: Unsupported Content-Encoding ${encoding}`);
  }
  const limit = zipped ? Math.min(maxBytes, MAX_INFLATED_BYTES) : maxBytes;
  let bytes = 0;
  for await (const chunk of zipped ? inflated(body) : body) {
    bytes += (chunk as Buffer).length;
    if (bytes > limit) throw tooLarge(`the request is larger than ${limit} bytes`);
    yield chunk as Buffer;
  }
}

/** Gives a program its input; once the program has ended the rest is read and dropped, so that the answer arrives. */
export async function feed(source: AsyncIterable<Buffer>, stdin: Socket): Promise<void> {
  const closed = new AbortController();
  stdin.once('close', () => closed.abort());
  for await (const chunk of source) {
    if (stdin.destroyed || !stdin.writable || stdin.write(chunk)) continue;
    await once(stdin, 'drain', { signal: closed.signal }).catch(() => {});
  }
  stdin.end();
}

async function* inflated(body: Readable): AsyncGenerator<Buffer> {
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
