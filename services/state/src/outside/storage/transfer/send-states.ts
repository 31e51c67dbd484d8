import { createHash } from 'node:crypto';
import { contentDamaged } from '../../../failures.ts';
import type { Entry } from '../../../model/entry.ts';
import { PIECE_BYTES } from '../vault/content/copy-content.ts';
import { close, errorCode, fstat, open, READ, readFully } from '../vault/files.ts';
import { END, paddingOf, tarHeader } from './tar.ts';

/** The file of an archive that says what it is. */
export const DESCRIPTION = 'croft-state.json';

/** What a member of a state holds, to be sent. */
export interface SentTree {
  /** SHA-256 of its list of files. */
  readonly list: string;
  /** That list as a file of the archive. */
  listFile(): AsyncIterable<Uint8Array>;
  entries(): AsyncIterable<readonly Entry[]>;
  /** Opens the content of a file; the caller closes it. */
  open(entry: Entry): Promise<number>;
}

/**
 * States as a POSIX archive: what they are, then each list of files, then each content once, in the order in which the lists
 * first name it. The same states give the same bytes, wherever they are kept.
 * @throws FAILED_PRECONDITION when a content is not what its list says
 */
export async function* sendStates(
  description: string,
  trees: readonly SentTree[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  yield* wholeFile(DESCRIPTION, [Buffer.from(description)]);
  const different = [...new Map(trees.map((tree) => [tree.list, tree])).values()];
  for (const tree of different) yield* tree.listFile();
  const sent = new Set<string>();
  for (const tree of different) {
    for await (const entries of tree.entries()) {
      for (const entry of entries) {
        if (entry.hash === undefined || sent.has(entry.hash)) continue;
        sent.add(entry.hash);
        yield* openFile(`objects/${entry.hash}`, entry.hash, () => tree.open(entry), signal);
      }
    }
  }
  yield END;
}

/** A file of an archive that is in memory. */
export function* wholeFile(name: string, parts: readonly Uint8Array[]): Generator<Uint8Array> {
  const size = parts.reduce((sum, { length }) => sum + length, 0);
  yield tarHeader(name, size);
  yield* parts;
  yield Buffer.alloc(paddingOf(size));
}

/** A file of an archive whose content has a hash. @param opened gives a descriptor, which is closed here */
export async function* openFile(
  name: string,
  hash: string,
  opened: () => Promise<number>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  signal.throwIfAborted();
  const fd = await opened().catch((error) => {
    throw errorCode(error) === 'ENOENT' ? contentDamaged(`the content ${hash}`) : error;
  });
  try {
    const size = Number((await fstat(fd)).size);
    yield tarHeader(name, size);
    const check = createHash('sha256');
    for (let at = 0; at < size; ) {
      signal.throwIfAborted();
      // A buffer of its own: whoever gets it reads it later.
      const buffer = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size - at));
      const bytes = buffer.subarray(0, await readFully(fd, buffer, at));
      if (bytes.length === 0) break;
      check.update(bytes);
      at += bytes.length;
      yield bytes;
    }
    // Also when it has become shorter: then too little was sent, and the receiver would take the next header for content.
    if (check.digest('hex') !== hash) throw contentDamaged(`the content ${hash}`);
    yield Buffer.alloc(paddingOf(size));
  } finally {
    await close(fd);
  }
}

/** Opens a file for reading by its path. */
export const openPath = (path: string): Promise<number> => open(path, READ);
