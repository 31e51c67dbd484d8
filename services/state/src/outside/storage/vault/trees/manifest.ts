import { createReadStream } from 'node:fs';
import type { Entry } from '../../../../model/entry.ts';

/** A tree in the order of its manifest: lines, and folders whose lines follow their own. */
export interface Tree {
  line: string;
  /** By name; nothing stands where an entry went away while the folder was read. */
  readonly items: (string | Tree | undefined)[];
}

/** About this much text is handed on at a time, so that the event loop turns in between. */
const PIECE_CHARACTERS = 256 * 1024;

/** The manifest of a tree, in pieces. */
export function* manifestPieces(tree: Tree): Generator<string> {
  let piece = '';
  for (const line of lines(tree)) {
    piece += `${line}\n`;
    if (piece.length >= PIECE_CHARACTERS) {
      yield piece;
      piece = '';
    }
  }
  yield piece;
}

/** Reads a manifest, some entries at a time. */
export async function* readManifest(path: string): AsyncGenerator<Entry[]> {
  let rest = '';
  for await (const piece of createReadStream(path, { encoding: 'utf8', highWaterMark: PIECE_CHARACTERS })) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() as string;
    yield lines.map((line) => JSON.parse(line) as Entry);
  }
}

/** All entries of a manifest. */
export async function entriesOf(path: string): Promise<Entry[]> {
  const all: Entry[] = [];
  for await (const entries of readManifest(path)) all.push(...entries);
  return all;
}

function* lines(tree: Tree): Generator<string> {
  // A stack instead of recursion: trees may be deeper than the call stack.
  const stack: { tree: Tree; next: number }[] = [{ tree, next: 0 }];
  yield tree.line;
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    if (top.next === top.tree.items.length) {
      stack.pop();
      continue;
    }
    const item = top.tree.items[top.next++];
    if (typeof item === 'string') yield item;
    else if (item !== undefined) {
      yield item.line;
      stack.push({ tree: item, next: 0 });
    }
  }
}
