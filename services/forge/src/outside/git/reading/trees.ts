import type { Git } from '../git.ts';
import { describeObject, describeObjects, readSmallObjects } from './objects.ts';
import { readRecords } from './records.ts';

/** Something in a folder. */
export interface TreeEntry {
  /** As in git: `100644`, `100755`, `120000` a symbolic link, `160000` a submodule, `040000` a folder. */
  mode: string;
  type: 'blob' | 'tree' | 'commit';
  id: string;
  /** Path from where the listing began; bytes that are not UTF-8 come out as replacement characters. */
  path: string;
  /** Bytes of a blob. */
  size: number;
}

/** A part of a listing, and how long the whole is. */
export interface TreeSlice {
  entries: TreeEntry[];
  total: number;
}

/**
 * What is at a path below a tree; undefined when there is nothing. Reads one tree for each part of the path, in the
 * conversation; from the first that is too large for that a process looks for the rest.
 */
export async function findEntry(
  git: Git,
  repositoryId: number,
  rootTree: string,
  path: string,
): Promise<TreeEntry | undefined> {
  let found: TreeEntry = { mode: '040000', type: 'tree', id: rootTree, path: '', size: 0 };
  if (path === '') return found;
  const names = path.split('/');
  for (const [index, name] of names.entries()) {
    if (found.type !== 'tree') return undefined;
    const [tree] = await readSmallObjects(git, repositoryId, [found.id], 'skip');
    const entry: TreeEntry | undefined =
      tree === undefined
        ? await findBelow(git, repositoryId, found.id, names.slice(index).join('/'))
        : findInTree(tree.content, Buffer.from(name));
    if (entry === undefined) return undefined;
    found = entry;
    if (tree === undefined) break;
  }
  const info = found.type === 'blob' ? await describeObject(git, repositoryId, found.id) : undefined;
  return { ...found, path, size: info?.size ?? 0 };
}

/**
 * Entries of a tree, of its subtrees too when asked for: one process, and memory and the look at sizes for the part
 * only.
 */
export async function listTree(
  git: Git,
  repositoryId: number,
  tree: string,
  slice: { recursive: boolean; offset: number; limit: number },
): Promise<TreeSlice | undefined> {
  const flags = slice.recursive ? ['-r', '-t'] : [];
  const listed: Buffer[] = [];
  let total = 0;
  const ended = await readRecords(git, repositoryId, ['ls-tree', '-z', ...flags, tree], (record) => {
    if (total >= slice.offset && listed.length < slice.limit) listed.push(Buffer.from(record));
    total++;
  });
  if (ended === 'failed') return undefined;
  const entries = listed.map(parseListed);
  const blobs = [...new Set(entries.filter(({ type }) => type === 'blob').map(({ id }) => id))];
  const infos = await describeObjects(git, repositoryId, blobs);
  const sizes = new Map(blobs.map((id, index) => [id, infos[index]?.size ?? 0]));
  return { entries: entries.map((entry) => ({ ...entry, size: sizes.get(entry.id) ?? 0 })), total };
}

/** Calls back for each blob of a tree and its subtrees. */
export async function walkTree(
  git: Git,
  repositoryId: number,
  tree: string,
  visit: (entry: TreeEntry) => void,
): Promise<'done' | 'failed'> {
  return await readRecords(git, repositoryId, ['ls-tree', '-z', '-l', '-r', tree], (record) =>
    visit(parseListed(record)),
  );
}

/** Ten thousand files in a folder: git looks for the one. */
async function findBelow(
  git: Git,
  repositoryId: number,
  tree: string,
  path: string,
): Promise<TreeEntry | undefined> {
  let found: TreeEntry | undefined;
  const take = (record: Buffer) => {
    const entry = parseListed(record);
    // What is no folder is listed for whatever is asked for below it.
    if (entry.path === path) found = entry;
  };
  await readRecords(git, repositoryId, ['ls-tree', '-z', tree, '--', path], take, { isAnswer: true });
  return found;
}

function findInTree(content: Buffer, name: Buffer): TreeEntry | undefined {
  for (const { start, space, end } of scanTree(content)) {
    if (name.length !== end - space - 1 || name.compare(content, space + 1, end) !== 0) continue;
    return { ...readEntry(content, start, space, end), size: 0 };
  }
  return undefined;
}

/** The entries of a tree, without their sizes. */
export function parseTree(content: Buffer): Omit<TreeEntry, 'size'>[] {
  return Array.from(scanTree(content), ({ start, space, end }) => readEntry(content, start, space, end));
}

/** Where the parts of the entries of a tree are: `<mode> <name>\0` and twenty bytes of id for each. */
function* scanTree(content: Buffer): Generator<{ start: number; space: number; end: number }, void> {
  for (let start = 0; start < content.length; ) {
    const space = content.indexOf(' ', start);
    const end = content.indexOf(0, space);
    if (space === -1 || end === -1) return;
    yield { start, space, end };
    start = end + 21;
  }
}

function readEntry(content: Buffer, start: number, space: number, end: number): Omit<TreeEntry, 'size'> {
  const mode = content.toString('latin1', start, space).padStart(6, '0');
  const id = content.toString('hex', end + 1, end + 21);
  return { mode, type: typeOf(mode), id, path: content.toString('utf8', space + 1, end) };
}

function typeOf(mode: string): TreeEntry['type'] {
  if (mode.startsWith('04')) return 'tree';
  return mode.startsWith('16') ? 'commit' : 'blob';
}

/** `<mode> <type> <id>\t<path>`; with a size, `-` for folders and submodules, where that was asked for. */
function parseListed(record: Buffer): TreeEntry {
  const tab = record.indexOf('\t');
  const [mode = '', type = '', id = '', size = ''] = record.toString('latin1', 0, tab).split(/ +/);
  return {
    mode,
    type: type as TreeEntry['type'],
    id,
    path: record.toString('utf8', tab + 1),
    size: Number(size) || 0,
  };
}
