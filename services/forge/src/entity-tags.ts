import { createHash } from 'node:crypto';
import type { App, Request } from '@croft/http';
import type { Endpoint } from './endpoint.ts';
import { emptySchema } from './wire-schemas.ts';

/** An endpoint whose answers carry an `ETag`, so that who has the current one gets 304 and no body. */
export const tagged = (endpoint: Endpoint): Endpoint => ({
  ...endpoint,
  tagged: true,
  answers: { ...endpoint.answers, 304: emptySchema },
});

type Reply = Parameters<Parameters<App['route']>[0]['handler']>[1];

/** Of an answer that a list continues elsewhere, these belong to it as well. */
const PARTS = ['link', 'x-total-count', 'content-type'];

/**
 * Adds the tag: a hash of all that is sent, so it changes whenever anything in it does, whoever changed that, and is
 * another one for every viewer who sees something else.
 */
export async function answerUnchanged(request: Request, reply: Reply, payload: unknown): Promise<unknown> {
  const isBytes = Buffer.isBuffer(payload);
  if (reply.statusCode !== 200 || (typeof payload !== 'string' && !isBytes)) return payload;
  // Once for hash, length and socket, each of which would make bytes of it again.
  const bytes = isBytes ? payload : Buffer.from(payload);
  const hash = createHash('sha1').update(bytes);
  for (const part of PARTS) hash.update(`\n${String(reply.getHeader(part) ?? '')}`);
  const tag = `"${hash.digest('base64url')}"`;
  reply.headers({ etag: tag, 'cache-control': 'private, no-cache', vary: 'Accept, Authorization' });
  if (!names(request.headers['if-none-match'], tag)) return bytes;
  reply.code(304).removeHeader('content-type').removeHeader('content-length');
  return null;
}

/** Whether a header names a tag; weak ones are as good, as nothing is asked for in parts. */
function names(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((one) => ['*', tag, `W/${tag}`].includes(one.trim()));
}
