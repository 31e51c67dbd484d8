import { createHash } from 'node:crypto';
import { contentDamaged } from '../../../../failures.ts';
import type { State } from '../../../../model/model.ts';
import { exportedText } from '../../../../rules/contents/exported-states.ts';
import { PIECE_BYTES } from '../content/copy-content.ts';
import type { Objects } from '../content/objects.ts';
import { close, errorCode, fstat, open, READ, readFully } from '../files.ts';
import { readManifest } from '../trees/manifest.ts';
import { END, paddingOf, tarHeader } from './tar.ts';

/** The file of an archive that says what it is. */
export const DESCRIPTION = 'croft-state.json';

/**
 * States as a POSIX archive: what they are, then each list of files, then each content once, in the order in which the lists
 * first name it. The same states give the same bytes.
 */
export async function* sendStates(
  objects: Objects,
  states: readonly State[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const description = Buffer.from(exportedText('vault', states));
  yield tarHeader(DESCRIPTION, description.length);
  yield description;
  yield Buffer.alloc(paddingOf(description.length));
  const manifests = new Set(states.flatMap(({ members }) => members.map(({ snapshot }) => snapshot)));
  for (const manifest of manifests) yield* sendObject(objects, 'manifests', manifest, signal);
  const sent = new Set<string>();
  for (const manifest of manifests) {
    for await (const entries of readManifest(objects.pathOf(manifest))) {
      for (const { hash } of entries) {
        if (hash === undefined || sent.has(hash)) continue;
        sent.add(hash);
        yield* sendObject(objects, 'objects', hash, signal);
      }
    }
  }
  yield END;
}

async function* sendObject(
  objects: Objects,
  folder: string,
  hash: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  signal.throwIfAborted();
  const fd = await open(objects.pathOf(hash), READ).catch((error) => {
    throw errorCode(error) === 'ENOENT' ? contentDamaged(`the content ${hash}`) : error;
  });
  try {
    const size = Number((await fstat(fd)).size);
    yield tarHeader(`${folder}/${hash}`, size);
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
