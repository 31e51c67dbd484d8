import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';

/** What a frame of a chunk takes (RFC 9112 §7.1). */
const FRAME = { before: 8, behind: 2 };

/** Some bytes of a memory. What is around them may be written to: a frame that fits in there makes both one write. */
export interface Chunk {
  readonly memory: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Where a body writes itself to. */
export interface DirectTarget {
  /**
   * Takes a chunk, which is not empty.
   * @returns whether its memory is free again at once; else it is when `done` is called. An error is told in either case
   */
  take(chunk: Chunk, done: (error?: Error | null) => void): boolean;
  /** Called when nobody reads any more. */
  once(event: 'close', listener: () => void): void;
}

/** Something that writes a body by itself, at the pace of its reader, and neither fails nor goes on when that goes away. */
export interface DirectBody {
  copyTo(target: DirectTarget): Promise<void>;
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
  raw.flushHeaders();
  // Without a socket it is not yet its turn on the connection, and whatever is written waits.
  const { socket } = raw;
  await body.copyTo(raw.chunkedEncoding && socket !== null ? inChunks(raw, socket) : whole(raw));
  raw.end();
}

/** Frames chunks (RFC 9112 §7.1) itself: Node's way, four writes that are joined later, takes most of the time of a clone. */
function inChunks(raw: ServerResponse, socket: Socket): DirectTarget {
  return {
    take(chunk, done) {
      let isPending = false;
      socket.write(framed(chunk), (error) => {
        if (isPending || error) done(error);
      });
      isPending = socket.writableLength > 0;
      return !isPending;
    },
    once: (event, listener) => void raw.once(event, listener),
  };
}

function whole(raw: ServerResponse): DirectTarget {
  return {
    take({ memory, start, end }, done) {
      raw.write(memory.subarray(start, end), done);
      return false;
    },
    once: (event, listener) => void raw.once(event, listener),
  };
}

/** The chunk with its frame, in its own memory where there is room. */
function framed({ memory, start, end }: Chunk): Buffer {
  const { before, behind } = FRAME;
  const length = end - start;
  const hasRoom = start >= before && end + behind <= memory.length;
  const whole = hasRoom
    ? memory.subarray(start - before, end + behind)
    : Buffer.concat([Buffer.alloc(before), memory.subarray(start, end), Buffer.alloc(behind)]);
  whole.write(`${length.toString(16).padStart(before - 2, '0')}\r\n`, 0, 'latin1');
  whole.write('\r\n', before + length, 'latin1');
  return whole;
}
