import { notFound, unacceptable } from '../failures.ts';
import type { Git } from '../outside/git/git.ts';
import { blobObject, FOLDER, type GitObject, type RawEntry } from '../outside/git/objects.ts';
import { describeObject, readObject } from '../outside/git/reading/objects.ts';
import { PathBlocked, TreeEditor } from '../outside/git/writing/tree-editor.ts';
import { isHarmlessModules, isModules, mayBeLink } from '../rules/files/file-path.ts';

/** What is wanted of one file; paths and content are checked. */
export interface FileChange {
  /**
   * `put` and `upload` update, and create when there is no file and none is expected; `upload` and `rename` need not know what is
   * there, and `rename` leaves it as it is.
   */
  operation: 'create' | 'update' | 'put' | 'upload' | 'rename' | 'delete';
  path: string;
  content: Buffer | undefined;
  /** The blob that is there as far as the caller knows; empty when he did not say. */
  sha: string;
  /** Where an update takes the file from. */
  fromPath: string | undefined;
}

/** What the changes come to. */
export interface PlannedChanges {
  tree: string;
  /** To be written. */
  objects: GitObject[];
  files: PlannedFile[];
}

/** What becomes of one file. */
export interface PlannedFile {
  path: string;
  /** Undefined when it is deleted. */
  entry: RawEntry | undefined;
  /** Undefined also when it moved as it was. */
  content: Buffer | undefined;
  size: number;
  created: boolean;
}

/**
 * Applies changes to a tree, one after the other; nothing is written yet.
 * @param root the tree to begin with; undefined is an empty one
 * @throws 404 for a file that is not there, 422 for one that is there or is another than the caller knows
 */
export async function planChanges(
  git: Git,
  repositoryId: number,
  root: string | undefined,
  changes: readonly FileChange[],
): Promise<PlannedChanges> {
  const editor = new TreeEditor(git, repositoryId, root);
  const blobs = new Map<string, GitObject>();
  const files: PlannedFile[] = [];
  const made = (id: string) => {
    const bytes = blobs.get(id)?.bytes;
    return bytes?.subarray(bytes.indexOf(0) + 1);
  };
  const there: Blobs = {
    sizeOf: async (id) => made(id)?.length ?? (await describeObject(git, repositoryId, id))?.size ?? 0,
    contentOf: async (id) => made(id) ?? (await readObject(git, repositoryId, id, 'skip'))?.content,
  };
  for (const change of changes) files.push(await apply(editor, change, blobs, there));
  const { tree, objects } = editor.build();
  return { tree, objects: [...blobs.values(), ...objects], files };
}

/** Files by their ids, those that changes before have made too. */
interface Blobs {
  sizeOf: (id: string) => Promise<number>;
  /** Undefined for one that is longer than a quarter of a megabyte. */
  contentOf: (id: string) => Promise<Buffer | undefined>;
}

async function apply(
  editor: TreeEditor,
  change: FileChange,
  blobs: Map<string, GitObject>,
  { sizeOf, contentOf }: Blobs,
): Promise<PlannedFile> {
  const { operation, path, sha, content } = change;
  const from = change.fromPath ?? path;
  const there = await editor.find(from);
  const target = from === path ? there : await editor.find(path);
  const mayCreate = operation === 'put' || operation === 'upload';
  const creates = operation === 'create' || (mayCreate && there === undefined && sha === '');
  if (creates) {
    if (target !== undefined) throw unacceptable(`repository file already exists [path: ${path}]`);
  } else {
    checkKnown(from, there, sha, operation !== 'upload' && operation !== 'rename');
    if (from !== path && target !== undefined)
      throw unacceptable(`repository file already exists [path: ${path}]`);
  }
  if (operation === 'delete') {
    await editor.remove(path);
    return { path, entry: undefined, content: undefined, size: 0, created: false };
  }
  const mode = (!creates && there?.mode) || '100644';
  if (mode === LINK && !mayBeLink(path)) throw unacceptable(`${path} may be no symbolic link`);
  const blob = content === undefined ? undefined : blobObject(content);
  if (blob !== undefined) blobs.set(blob.id, blob);
  const id = blob?.id ?? there?.id;
  // Who moves a file says nothing of its content, and there is none.
  if (id === undefined) throw missingFile(from);
  // A file that moves brings its content along.
  if (isModules(path)) checkModules(path, content ?? (await contentOf(id)));
  const entry = { mode, id };
  if (from !== path) await editor.remove(from);
  try {
    await editor.set(path, entry);
  } catch (error) {
    if (!(error instanceof PathBlocked)) throw error;
    throw unacceptable(`a file is where ${path} needs a folder, or a folder where it needs a file`);
  }
  return { path, entry, content, size: content?.length ?? (await sizeOf(id)), created: creates };
}

const LINK = '120000';
const SUBMODULE = '160000';

const missingFile = (path: string) => notFound(`repository file does not exist [path: ${path}]`);

function checkModules(path: string, content: Buffer | undefined): void {
  if (content === undefined) throw unacceptable(`${path} is too long to be looked at`);
  if (!isHarmlessModules(content))
    throw unacceptable(`${path} would make git run or overwrite what it should not`);
}

function checkKnown(path: string, there: RawEntry | undefined, sha: string, mustKnow: boolean): void {
  if (there === undefined) throw missingFile(path);
  if (there.mode === FOLDER || there.mode === SUBMODULE) throw unacceptable(`${path} is no file`);
  if (sha === '' && mustKnow) throw unacceptable('[SHA]: Required');
  if (sha !== '' && there.id !== sha.toLowerCase())
    throw unacceptable(`sha does not match [given: ${sha.slice(0, 40)}, expected: ${there.id}]`);
}
