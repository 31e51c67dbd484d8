import type { Context } from '../context.ts';
import { chunks, dumpDocument } from '../rules/machines/dump.ts';

/** Everything the daemon knows as one JSON document, in pieces that every client accepts. */
export function dumpStates(context: Context): string[] {
  return chunks(dumpDocument(context.index.model, context.storage));
}
