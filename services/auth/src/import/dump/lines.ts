import { createReadStream } from 'node:fs';
import { StartError } from '@croft/runtime';

/** Longer than any row GoTrue takes. */
const MAX_LINE_BYTES = 64 * 2 ** 20;
const CHUNK_BYTES = 256 * 1024;
const LINE_FEED = 10;

/** A line and where it ends. */
export interface Line {
  bytes: Buffer;
  /** Offset of what follows it. */
  end: number;
}

/**
 * The lines of a part of a file, of which never more than one and a piece of the file is in memory.
 * @throws StartError when a line is too long to be one of a dump
 */
export async function* linesOf(file: string, start = 0): AsyncGenerator<Line> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  let offset = start;
  for await (const piece of createReadStream(file, { start, highWaterMark: CHUNK_BYTES })) {
    const chunk = piece as Buffer;
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
      const tail = chunk.subarray(from, at);
      offset += restBytes + tail.length + 1;
      yield { bytes: rest.length === 0 ? tail : Buffer.concat([...rest, tail]), end: offset };
      rest = [];
      restBytes = 0;
      from = at + 1;
    }
    if (from === chunk.length) continue;
    rest.push(chunk.subarray(from));
    restBytes += chunk.length - from;
    if (restBytes > MAX_LINE_BYTES)
      throw new StartError(`${file} has a line of more than ${MAX_LINE_BYTES} bytes.`);
  }
  if (restBytes > 0) yield { bytes: Buffer.concat(rest), end: offset + restBytes };
}
