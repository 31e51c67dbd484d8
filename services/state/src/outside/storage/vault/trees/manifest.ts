import { createHash, type Hash } from 'node:crypto';
import { createReadStream, promises } from 'node:fs';
import { pipeline } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { contentDamaged } from '../../../../failures.ts';
import type { Entry } from '../../../../model/entry.ts';
import type { Additions } from '../content/additions.ts';
import type { StatCache } from '../content/stat-cache.ts';

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

/**
 * Stores the manifest of a tree. Of an unchanged one the text is what it was at the last save, which takes a tenth of the time to
 * find out that compressing it again would.
 * @returns its hash
 */
export async function storeManifest(tree: Tree, additions: Additions, cache: StatCache): Promise<string> {
  const last = cache.manifest;
  if (last !== undefined && (await digestOf(tree)) === last.text && (await additions.has(last.stored)))
    return last.stored;
  const digest = createHash('sha256');
  const { hash: stored } = await additions.putText(seen(manifestPieces(tree), digest));
  cache.manifest = { text: digest.digest('hex'), stored };
  return stored;
}

async function digestOf(tree: Tree): Promise<string> {
  const digest = createHash('sha256');
  for (const _ of seen(manifestPieces(tree), digest)) await setImmediate();
  return digest.digest('hex');
}

function* seen(pieces: Iterable<string>, digest: Hash): Generator<string> {
  for (const piece of pieces) {
    digest.update(piece);
    yield piece;
  }
}

/** Reads a manifest, some entries at a time. */
export async function* readManifest(path: string): AsyncGenerator<Entry[]> {
  let rest = '';
  let isBegun = false;
  const decoder = new TextDecoder();
  for await (const piece of manifestBytes(path)) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = lines.pop() as string;
    const entries = lines.map((line) => JSON.parse(line) as Entry);
    if (!isBegun && entries[0] !== undefined && entries[0].path !== '.') throw damaged(path);
    isBegun ||= entries.length > 0;
    yield entries;
  }
  // A list that is cut short would take away what it does not name.
  if (!isBegun || rest !== '') throw damaged(path);
}

/**
 * The text of a manifest, which is stored compressed: a hundred thousand entries have thirty megabytes. Those of an earlier
 * version, and those that were imported, are stored as they are.
 */
export async function* manifestBytes(path: string): AsyncGenerator<Buffer> {
  const isPlain = (await firstByte(path)) !== GZIP;
  const file = createReadStream(path, { highWaterMark: PIECE_CHARACTERS });
  // Also when its reader stops early, or the file ends too soon, both streams end with it.
  const text = isPlain ? file : pipeline(file, createGunzip({ chunkSize: PIECE_CHARACTERS }), () => {});
  try {
    for await (const piece of text) yield piece as Buffer;
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code?.startsWith('Z_') === true ? damaged(path) : error;
  }
}

const damaged = (path: string) => contentDamaged(`the list of files ${path}`);

/** Of the two bytes that compressed files begin with; a manifest begins with a brace. */
const GZIP = 0x1f;

async function firstByte(path: string): Promise<number | undefined> {
  const file = await promises.open(path);
  try {
    return (await file.read(Buffer.alloc(1), 0, 1, 0)).buffer[0];
  } finally {
    await file.close();
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
