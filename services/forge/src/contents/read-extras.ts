import type { Git } from '../outside/git/git.ts';
import { readSmallObjects } from '../outside/git/reading/objects.ts';
import { parseCommit } from '../outside/git/reading/parse-commit.ts';
import type { TreeEntry } from '../outside/git/reading/trees.ts';
import { type LfsPointer, MAX_POINTER_BYTES, readLfsPointer } from '../rules/files/lfs-pointer.ts';

/** So many objects are read at once. */
const BATCH = 100;
/** What all messages of an answer have together, in characters; those that no longer fit are left out. */
const MAX_MESSAGES = 4 * 1024 * 1024;

/** What commits say, by their ids. Those that are very long are left out. */
export async function readMessages(
  git: Git,
  repositoryId: number,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const messages = new Map<string, string>();
  let left = MAX_MESSAGES;
  for (let start = 0; start < ids.length && left > 0; start += BATCH) {
    const objects = await readSmallObjects(git, repositoryId, ids.slice(start, start + BATCH), 'skip');
    for (const object of objects) {
      if (object?.type !== 'commit') continue;
      const { message } = parseCommit(object);
      left -= message.length;
      if (left >= 0) messages.set(object.id, message);
    }
  }
  return messages;
}

/** What stands for files that Git LFS keeps elsewhere, by the ids of the blobs that say so. */
export async function readPointers(
  git: Git,
  repositoryId: number,
  entries: readonly TreeEntry[],
): Promise<ReadonlyMap<string, LfsPointer>> {
  const isFile = ({ type, mode, size }: TreeEntry) =>
    type === 'blob' && mode !== '120000' && size < MAX_POINTER_BYTES;
  const ids = [...new Set(entries.filter(isFile).map(({ id }) => id))];
  const pointers = new Map<string, LfsPointer>();
  for (let start = 0; start < ids.length; start += BATCH) {
    for (const object of await readSmallObjects(git, repositoryId, ids.slice(start, start + BATCH))) {
      const pointer = object && readLfsPointer(object.content.toString('latin1'));
      if (object !== undefined && pointer !== undefined) pointers.set(object.id, pointer);
    }
  }
  return pointers;
}
