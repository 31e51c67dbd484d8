import type { Writable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/** Something that writes a body by itself, at the pace of its reader, and neither fails nor goes on when that goes away. */
export interface DirectBody {
  copyTo(target: Writable): Promise<void>;
}

/**
 * Answers 200 with a body that goes past the framework's streams, which allocate memory for every chunk. Headers are those
 * of the reply; hooks that look at a payload do not run, those that look at the end of a request do.
 */
export async function answerDirectly(reply: FastifyReply, body: DirectBody): Promise<void> {
  reply.hijack();
  const { raw } = reply;
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) raw.setHeader(name, value);
  raw.writeHead(200);
  await body.copyTo(raw);
  raw.end();
}
