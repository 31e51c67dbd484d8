import type { Git } from '../git.ts';
import { FOLDER, type GitObject, type RawEntry, rawTreeObject } from '../objects.ts';
import { readObject } from '../reading/objects.ts';

/** A folder, read when something in it is asked for. */
interface Folder {
  /** The tree it was; undefined for a new one. */
  id: string | undefined;
  entries: Map<string, RawEntry | Folder> | undefined;
  changed: boolean;
}

/** Something is in the way: a file where a folder is to be, or the other way round. */
export class PathBlocked extends Error {
  override readonly name = 'PathBlocked';
}

/**
 * Changes files of a tree without a work tree or an index: reads the folders along the paths only, however many files
 * the repository has. Paths are checked by whoever calls.
 */
export class TreeEditor {
  readonly #git: Git;
  readonly #repositoryId: number;
  readonly #root: Folder;

  /** @param root the tree to begin with; undefined is an empty one */
  constructor(git: Git, repositoryId: number, root: string | undefined) {
    this.#git = git;
    this.#repositoryId = repositoryId;
    this.#root = { id: root, entries: undefined, changed: false };
  }

  /** What is at a path: its mode and, unless it is a folder with changes, its id. */
  async find(path: string): Promise<RawEntry | undefined> {
    let folder = this.#root;
    const names = namesOf(path);
    for (const [depth, name] of names.entries()) {
      const entry = (await this.#entriesOf(folder)).get(name);
      if (entry === undefined) return undefined;
      if (depth === names.length - 1) return isFolder(entry) ? { mode: FOLDER, id: entry.id ?? '' } : entry;
      const next = this.#open(folder, name, entry);
      if (next === undefined) return undefined;
      folder = next;
    }
    return undefined;
  }

  /**
   * Puts a file at a path, making folders on the way.
   * @throws PathBlocked
   */
  async set(path: string, file: RawEntry): Promise<void> {
    const names = namesOf(path);
    let folder = this.#root;
    for (const name of names.slice(0, -1)) {
      folder.changed = true;
      const entries = await this.#entriesOf(folder);
      const entry = entries.get(name);
      const next: Folder | undefined =
        entry === undefined
          ? { id: undefined, entries: new Map(), changed: true }
          : this.#open(folder, name, entry);
      if (next === undefined) throw new PathBlocked(path);
      entries.set(name, next);
      folder = next;
    }
    const name = names.at(-1) ?? '';
    const entries = await this.#entriesOf(folder);
    const there = entries.get(name);
    if (there !== undefined && (isFolder(there) || there.mode === FOLDER)) throw new PathBlocked(path);
    folder.changed = true;
    entries.set(name, file);
  }

  /** Removes a file, and the folders that have nothing in them any more. */
  async remove(path: string): Promise<void> {
    const names = namesOf(path);
    const folders = [this.#root];
    for (const name of names.slice(0, -1)) {
      const folder = folders.at(-1) as Folder;
      const entry = (await this.#entriesOf(folder)).get(name);
      const next = entry && this.#open(folder, name, entry);
      if (next === undefined) return;
      folders.push(next);
    }
    for (let depth = names.length - 1; depth >= 0; depth--) {
      const folder = folders[depth] as Folder;
      folder.changed = true;
      const entries = await this.#entriesOf(folder);
      entries.delete(names[depth] as string);
      if (entries.size > 0) break;
    }
    for (const folder of folders) folder.changed = true;
  }

  /** The new tree, and the objects it is made of; they are written by whoever calls. */
  build(): { tree: string; objects: GitObject[] } {
    const objects: GitObject[] = [];
    const finish = (folder: Folder): string => {
      if (!folder.changed && folder.id !== undefined) return folder.id;
      const entries = [...(folder.entries ?? [])].map(
        ([name, entry]) => [name, isFolder(entry) ? { mode: FOLDER, id: finish(entry) } : entry] as const,
      );
      const tree = rawTreeObject(entries);
      if (tree.id !== folder.id) objects.push(tree);
      return tree.id;
    };
    return { tree: finish(this.#root), objects };
  }

  #open(folder: Folder, name: string, entry: RawEntry | Folder): Folder | undefined {
    if (isFolder(entry)) return entry;
    if (entry.mode !== FOLDER) return undefined;
    const opened: Folder = { id: entry.id, entries: undefined, changed: false };
    folder.entries?.set(name, opened);
    return opened;
  }

  async #entriesOf(folder: Folder): Promise<Map<string, RawEntry | Folder>> {
    folder.entries ??= folder.id === undefined ? new Map() : parseTree(await this.#readTree(folder.id));
    return folder.entries;
  }

  async #readTree(id: string): Promise<Buffer> {
    const object = await readObject(this.#git, this.#repositoryId, id);
    if (object !== undefined && object.content.length === object.size) return object.content;
    return await this.#git.output(this.#repositoryId, ['cat-file', 'tree', id]);
  }
}

/** Names of a path as trees spell them: a character for each byte. */
const namesOf = (path: string) => path.split('/').map((name) => Buffer.from(name).toString('latin1'));

const isFolder = (entry: RawEntry | Folder): entry is Folder => 'changed' in entry;

/** `<mode> <name>\0` and twenty bytes of id for each entry. */
function parseTree(content: Buffer): Map<string, RawEntry> {
  const entries = new Map<string, RawEntry>();
  for (let position = 0; position < content.length; ) {
    const space = content.indexOf(' ', position);
    const end = content.indexOf(0, space);
    if (space === -1 || end === -1) throw new Error('a tree is damaged');
    const mode = content.toString('latin1', position, space).replace(/^0+/, '');
    entries.set(content.toString('latin1', space + 1, end), {
      mode,
      id: content.toString('hex', end + 1, end + 21),
    });
    position = end + 21;
  }
  return entries;
}
