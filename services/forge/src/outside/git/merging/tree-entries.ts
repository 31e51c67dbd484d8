import { LRUCache } from 'lru-cache';
import type { Git } from '../git.ts';
import { FOLDER, type GitObject, gitObject } from '../objects.ts';
import { readSmallObjects } from '../reading/objects.ts';

/** Something in a tree; texts have a character for each byte. */
export interface Entry {
  /** Its name, with a slash behind it when it is a folder: in the order of these stand the entries of a tree. */
  key: string;
  mode: string;
  /** Twenty bytes. */
  id: string;
}

/** A tree as git writes it. Its entries are spelled out only where somebody looks: most of them nobody changed. */
export interface Tree {
  /** With a character for each byte. */
  text: string;
  /** Where each entry begins, and where the last one ends. */
  starts: Uint32Array;
}

/** What stands for a folder that is not there; git knows no empty ones. */
export const NO_TREE: Tree = { text: '', starts: new Uint32Array(1) };

/** A tree never changes, so this is never wrong. By what it keeps in memory: 32 MB in all. */
const known = new LRUCache<string, Tree>({
  maxSize: 32 * 1024 * 1024,
  sizeCalculation: ({ text, starts }) => text.length + starts.byteLength + 400,
});

/** An id as entries have it, of its forty digits. */
export const bytesOf = (id: string): string => Buffer.from(id, 'hex').toString('latin1');

/** The other way round. */
export const hexOf = (id: string): string => Buffer.from(id, 'latin1').toString('hex');

const EMPTY_TREE = bytesOf('4b825dc642cb6eb9a060e54bf8d69288fbee4904');
/** Behind the name of an entry stand a zero and its id. */
const BEHIND_NAME = 21;
/** Files, programs, symbolic links, submodules, folders. */
const MODES = new Set(['100644', '100755', '120000', '160000', FOLDER]);

/**
 * Trees by their ids as forty digits, in their order; undefined for what is missing, longer than a conversation takes, or
 * not as git itself writes a tree. `<commit>^{tree}` is read as well and only remembered, for who asks by its id soon.
 */
export async function readTrees(
  git: Git,
  repositoryId: number,
  ids: readonly string[],
): Promise<(Tree | undefined)[]> {
  const found = ids.map((id) => known.get(id));
  const missing = ids.filter((_, index) => found[index] === undefined);
  if (missing.length === 0) return found;
  const objects = await readSmallObjects(git, repositoryId, missing, 'skip');
  const read = new Map<string, Tree>();
  for (const object of objects) {
    const tree = object?.type === 'tree' ? parse(object.content.toString('latin1')) : undefined;
    if (object !== undefined && tree !== undefined) read.set(object.id, tree);
  }
  for (const [id, tree] of read) known.set(id, tree);
  return ids.map((id, index) => found[index] ?? read.get(id));
}

/** The tree of some entries as they are spelled, which are in order. */
export function treeOf(text: string): GitObject {
  const object = gitObject('tree', Buffer.from(text, 'latin1'));
  const tree = parse(text);
  if (tree !== undefined) known.set(object.id, tree);
  return object;
}

/** How many entries a tree has. */
export const countOf = ({ starts }: Tree): number => starts.length - 1;

/** An entry by its place, undefined behind the last. */
export function entryAt({ text, starts }: Tree, place: number): Entry | undefined {
  const [start, end] = [starts[place], starts[place + 1]];
  return start === undefined || end === undefined ? undefined : spelled(text, start, end - BEHIND_NAME);
}

/** Whether a tree has a folder; true as well for a file whose name ends like the entry of one. */
export const mayHaveFolder = ({ text }: Tree, name: string): boolean => text.includes(`${FOLDER} ${name}\0`);

/** All entries, in order. */
export const entriesOf = (tree: Tree): Entry[] =>
  Array.from({ length: countOf(tree) }, (_, place) => entryAt(tree, place) as Entry);

/** Some entries as they are spelled, from a place on. */
export const textOf = ({ text, starts }: Tree, place: number, count: number): string =>
  text.slice(starts[place], starts[place + count]);

/** An entry as its tree spells it. */
export const spell = ({ key, mode, id }: Entry): string =>
  `${mode} ${mode === FOLDER ? key.slice(0, -1) : key}\0${id}`;

/** A tree by its text; undefined for what git would write differently. */
export function parse(text: string): Tree | undefined {
  const starts = [0];
  let last = '';
  for (let start = 0; start < text.length; ) {
    const space = text.indexOf(' ', start);
    const nameEnd = text.indexOf('\0', space);
    const end = nameEnd + BEHIND_NAME;
    if (space === -1 || nameEnd === -1 || end > text.length) return undefined;
    const { key, mode } = spelled(text, start, nameEnd);
    if (!MODES.has(mode) || key.indexOf('/') !== (mode === FOLDER ? key.length - 1 : -1)) return undefined;
    if (key === '/' || key <= last || text.startsWith(EMPTY_TREE, nameEnd + 1)) return undefined;
    starts.push(end);
    last = key;
    start = end;
  }
  return { text, starts: Uint32Array.from(starts) };
}

function spelled(text: string, start: number, nameEnd: number): Entry {
  const space = text.indexOf(' ', start);
  const mode = text.slice(start, space);
  const name = text.slice(space + 1, nameEnd);
  return {
    key: mode === FOLDER ? `${name}/` : name,
    mode,
    id: text.slice(nameEnd + 1, nameEnd + BEHIND_NAME),
  };
}
