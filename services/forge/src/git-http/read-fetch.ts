import type { Readable } from 'node:stream';
import type { Context } from '../context.ts';
import { plainBody } from './request-body.ts';

/** Wants and haves of a fetch: a hundred thousand refs take 5 MB. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Nearly all are shorter than this, so that of these any number may be read at once. */
const SHORT_BYTES = 1024 * 1024;
/** Whoever takes longer to say what he wants is not worth a socket. */
const READ_MS = 5 * 60_000;

/**
 * Reads what a client wants to fetch, before it takes one of the programs: whoever is slow to say it would keep others from
 * theirs. Long ones take memory until a program has them: of those only some are read at once.
 * @param share whose share of that it takes from
 * @returns the request, and what is to be called when a program has it or nobody is to have it any more
 * @throws 408, 413, 422, and 503 when too many long ones are being read
 */
export async function readFetch(
  { queues, settings }: Context,
  share: string,
  sent: { body: Readable; encoding: string },
): Promise<{ body: Buffer; done: () => void }> {
  const limits = { maxBytes: MAX_BYTES, idleMs: settings.GIT_IDLE_TIMEOUT, totalMs: READ_MS };
  const chunks: Buffer[] = [];
  let bytes = 0;
  let done: (() => void) | undefined;
  try {
    for await (const chunk of plainBody(sent.body, sent.encoding, limits)) {
      bytes += chunk.length;
      if (bytes > SHORT_BYTES) done ??= await queues.longFetches.take(share);
      chunks.push(chunk);
    }
    return { body: Buffer.concat(chunks), done: done ?? (() => {}) };
  } catch (error) {
    done?.();
    throw error;
  }
}
