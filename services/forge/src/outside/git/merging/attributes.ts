import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Git } from '../git.ts';
import { readNode } from '../reading/commit-nodes.ts';
import { readObject, readObjects } from '../reading/objects.ts';
import { readRecords } from '../reading/records.ts';
import { parseTree } from '../reading/trees.ts';

/** A `.gitattributes` in a tree. */
export interface AttributesFile {
  /** From the tree; empty parts never. */
  path: string;
  /** Of its blob. */
  id: string;
}

const NAME = '.gitattributes';
/**
 * A few trees that name one another stand for more files than there is memory for, and their paths get longer than a file
 * system takes. What is beyond these limits is for no merge.
 */
const MAX_FILES = 128;
const MAX_PATH_LENGTH = 1000;
const MAX_NAME_BYTES = 255;
/** A tree never changes, so this is never wrong. A repository of fifty thousand files has five hundred. */
const known = new LRUCache<string, Promise<readonly AttributesFile[]>>({
  maxSize: 50_000,
  sizeCalculation: () => 1,
});
/** More text than this is not for merging. */
const MAX_BYTES = 256 * 1024;

/**
 * The `.gitattributes` of a commit, in all its folders. git reads them from a work tree, which a bare repository has not;
 * they say how files are merged (`merge=union`, `binary`). Reads only trees that were not seen before: after a merge those
 * along the changed paths.
 */
export async function findAttributes(
  git: Git,
  repositoryId: number,
  commit: string,
): Promise<readonly AttributesFile[]> {
  const node = await readNode(git, repositoryId, commit);
  return node === undefined ? [] : await below(git, repositoryId, node.tree);
}

const weightOf = (files: readonly AttributesFile[]) =>
  1 + files.reduce((sum, { path }) => sum + 1 + Math.ceil(path.length / 200), 0);

async function below(git: Git, repositoryId: number, tree: string): Promise<readonly AttributesFile[]> {
  const before = known.get(tree);
  if (before !== undefined) return await before;
  const found = look(git, repositoryId, tree);
  known.set(tree, found);
  try {
    const files = await found;
    // Paths may be long: about as many hundred bytes.
    known.set(tree, found, { size: weightOf(files) });
    return files;
  } catch (error) {
    known.delete(tree);
    throw error;
  }
}

async function look(git: Git, repositoryId: number, tree: string): Promise<readonly AttributesFile[]> {
  const object = await readObject(git, repositoryId, tree);
  if (object === undefined) throw new Error(`tree ${tree} cannot be read`);
  // One of ten thousand entries, too long for the conversation.
  if (object.content.length < object.size) return await list(git, repositoryId, tree);
  const entries = parseTree(object.content);
  const own = entries.filter(({ path, type }) => path === NAME && type === 'blob');
  const deeper = await Promise.all(
    entries
      .filter(({ path, type }) => type === 'tree' && isFolderName(path))
      .map(async ({ path, id }) =>
        (await below(git, repositoryId, id)).map((file) => ({ ...file, path: `${path}/${file.path}` })),
      ),
  );
  const files = [...own.map(({ path, id }) => ({ path, id })), ...deeper.flat()];
  return files.filter(({ path }) => path.length <= MAX_PATH_LENGTH).slice(0, MAX_FILES);
}

/** What can be a folder of ours and leads nowhere else. */
const isFolderName = (name: string) =>
  !['', '.', '..'].includes(name) && !name.includes('/') && Buffer.byteLength(name) <= MAX_NAME_BYTES;

async function list(git: Git, repositoryId: number, tree: string): Promise<AttributesFile[]> {
  const files: AttributesFile[] = [];
  const ended = await readRecords(git, repositoryId, ['ls-tree', '-z', '-r', tree], (record) => {
    const path = record.toString('utf8', record.indexOf('\t') + 1);
    const isOurs = path === NAME || path.endsWith(`/${NAME}`);
    if (isOurs && files.length < MAX_FILES && path.split('/').every(isFolderName))
      files.push({ path, id: record.toString('latin1', 12, 52) });
  });
  if (ended === 'failed') throw new Error(`tree ${tree} cannot be read`);
  return files;
}

/** Writes the files to a folder of their own, which a merge can take for its work tree. */
export async function writeAttributes(
  git: Git,
  repositoryId: number,
  files: readonly AttributesFile[],
  folder: string,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const blobs = await readObjects(
    git,
    repositoryId,
    files.map(({ id }) => id),
  );
  for (const [index, { path }] of files.entries()) {
    const blob = blobs[index];
    if (blob === undefined || blob.size > MAX_BYTES) continue;
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, blob.content);
  }
}
