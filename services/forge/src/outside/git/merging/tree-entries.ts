import { LRUCache } from 'lru-cache';
import type { Git } from '../git.ts';
import { FOLDER, type GitObject, gitObject } from '../objects.ts';
import { readObjects } from '../reading/objects.ts';

/** Something in a tree; texts have a character for each byte. */
export interface Entry {
  /** Its name, with a slash behind it when it is a folder: in the order of these stand the entries of a tree. */
  key: string;
  mode: string;
  /** Twenty bytes. */
  id: string;
}

/** A tree as git writes it. */
export type Entries = readonly Entry[];

/** A tree never changes, so this is never wrong. By what its entries keep in memory, names of any length: 32 MB in all. */
const known = new LRUCache<string, Entries>({
  maxSize: 32 * 1024 * 1024,
  sizeCalculation: (entries) => entries.reduce((sum, { key }) => sum + key.length + 150, 150),
});

/** An id as entries have it, of its forty digits. */
export const bytesOf = (id: string): string => Buffer.from(id, 'hex').toString('latin1');

/** The other way round. */
export const hexOf = (id: string): string => Buffer.from(id, 'latin1').toString('hex');

const EMPTY_TREE = bytesOf('4b825dc642cb6eb9a060e54bf8d69288fbee4904');
/** Files, programs, symbolic links, submodules, folders. */
const MODES = new Set(['100644', '100755', '120000', '160000', FOLDER]);

/**
 * Trees by their ids as forty digits, in their order; undefined for what is missing, longer than a conversation takes, or
 * not as git itself writes a tree.
 */
export async function readTrees(
  git: Git,
  repositoryId: number,
  ids: readonly string[],
): Promise<(Entries | undefined)[]> {
  const found = ids.map((id) => known.get(id));
  const missing = ids.filter((_, index) => found[index] === undefined);
  if (missing.length === 0) return found;
  const objects = await readObjects(git, repositoryId, missing, 'skip');
  const read = new Map(
    objects.flatMap((object) => {
      const entries = object?.type === 'tree' ? parseEntries(object.content) : undefined;
      return object === undefined || entries === undefined ? [] : [[object.id, entries]];
    }),
  );
  for (const [id, entries] of read) known.set(id, entries);
  return ids.map((id, index) => found[index] ?? read.get(id));
}

/** The tree of some entries, which are in order. */
export function treeOf(entries: Entries): GitObject {
  const parts = entries.map(
    ({ key, mode, id }) => `${mode} ${mode === FOLDER ? key.slice(0, -1) : key}\0${id}`,
  );
  const tree = gitObject('tree', Buffer.from(parts.join(''), 'latin1'));
  known.set(tree.id, entries);
  return tree;
}

/** Undefined for what git would write differently. */
function parseEntries(content: Buffer): Entry[] | undefined {
  const text = content.toString('latin1');
  const entries: Entry[] = [];
  let last = '';
  for (let start = 0; start < text.length; ) {
    const space = text.indexOf(' ', start);
    const end = text.indexOf('\0', space);
    if (space === -1 || end === -1) return undefined;
    const mode = text.slice(start, space);
    const name = text.slice(space + 1, end);
    const key = mode === FOLDER ? `${name}/` : name;
    const id = text.slice(end + 1, end + 21);
    if (!MODES.has(mode) || name.includes('/') || key <= last || id === EMPTY_TREE) return undefined;
    entries.push({ key, mode, id });
    last = key;
    start = end + 21;
  }
  return entries;
}
