import type { Git } from '../git.ts';
import { FOLDER, type GitObject } from '../objects.ts';
import {
  bytesOf,
  countOf,
  type Entry,
  entriesOf,
  hexOf,
  NO_TREE,
  parse,
  readTrees,
  spell,
  type Tree,
  treeOf,
} from './tree-entries.ts';
import { inStep, type Step } from './tree-steps.ts';

/** A tree that holds the changes of both sides, and what is to be written for it. */
export interface CombinedTree {
  tree: string;
  objects: readonly GitObject[];
}

/** Three trees: what both sides began with, and what each made of it. */
export interface Sides {
  base: string;
  ours: string;
  theirs: string;
}

/** So many trees are read; from there on git is faster. */
const MAX_READ = 500;
/** And so many entries of them are looked at, some fifteen milliseconds of the process: others wait meanwhile. */
const MAX_ENTRIES = 10_000;

/** Thrown when it takes git to say what comes out, or whether anything does. */
class Unclear extends Error {
  override readonly name = 'Unclear';
}

/**
 * Merges trees where it is plain what git makes of them: nothing was changed by both sides, other than folders, and nothing
 * can count as renamed. Most merges are like that, and then nothing but the folders that both have changed is read, in no
 * process of its own. Undefined where it is not plain: conflicts, contents to be merged, renames, and trees that git would
 * write differently.
 */
export async function combineTrees(
  git: Git,
  repositoryId: number,
  { base, ours, theirs }: Sides,
): Promise<CombinedTree | undefined> {
  const combination = new Combination(git, repositoryId);
  try {
    const tree = await combination.combine(base, ours, theirs);
    await combination.checkRenames();
    return { tree: tree ?? combination.write(''), objects: combination.objects };
  } catch (error) {
    if (error instanceof Unclear) return undefined;
    throw error;
  }
}

/** What a side did to files. */
interface Doings {
  adds: boolean;
  removes: boolean;
}

/** The same, as far as it is known. */
interface KnownDoings extends Doings {
  /** Folders before and after that were not looked into. */
  folders: { before: string; after: string }[];
}

class Combination {
  readonly objects: GitObject[] = [];
  readonly #git: Git;
  readonly #repositoryId: number;
  readonly #ours: KnownDoings = { adds: false, removes: false, folders: [] };
  readonly #theirs: KnownDoings = { adds: false, removes: false, folders: [] };
  #read = 0;
  #entries = 0;

  constructor(git: Git, repositoryId: number) {
    this.#git = git;
    this.#repositoryId = repositoryId;
  }

  /** Of folders, undefined where there is none; what they come to, undefined where nothing is left. */
  async combine(base?: string, ours?: string, theirs?: string): Promise<string | undefined> {
    const pieces = inStep(await this.#readAll([base, ours, theirs]));
    const steps = pieces.filter((piece) => typeof piece !== 'string');
    const kept = await this.#combineAll(steps);
    if (steps.every((step) => isSame(kept.get(step), step[1]))) return ours;
    if (steps.every((step) => isSame(kept.get(step), step[2]))) return theirs;
    const texts = pieces.map((piece) => {
      const entry = typeof piece === 'string' ? piece : kept.get(piece);
      return typeof entry === 'object' ? spell(entry) : (entry ?? '');
    });
    const text = texts.join('');
    if (text === '') return undefined;
    // One side has a file where the other has a folder.
    if (steps.some(([was]) => was === undefined) && hasNameTwice(text)) throw new Unclear();
    return this.write(text);
  }

  write(text: string): string {
    const tree = treeOf(text);
    this.objects.push(tree);
    return tree.id;
  }

  /**
   * git looks for files that went on one side and came again under another name, and takes along what the other side did to
   * them or to their folder. A file both have changed is unclear already. What is left is a folder that one side renamed and
   * the other added to, and a file that one side renamed and the other removed.
   */
  async checkRenames(): Promise<void> {
    const sides = [this.#theirs, this.#ours] as const;
    for (;;) {
      const [some, others] = sides.map(({ adds, removes, folders }) => {
        const open = folders.length > 0;
        return { adds: adds || open, removes: removes || open };
      }) as [Doings, Doings];
      if (!mayCountAsRenamed(some, others)) return;
      if (mayCountAsRenamed(...sides)) throw new Unclear();
      const [next] = sides
        .filter(({ folders }) => folders.length > 0)
        .sort((a, b) => a.folders.length - b.folders.length);
      if (next !== undefined) await this.#lookInto(next);
    }
  }

  async #combineAll(steps: readonly Step[]): Promise<ReadonlyMap<Step, Entry | undefined>> {
    const kept = new Map(steps.map((step) => [step, this.#decide(step)]));
    const folders = steps.filter(isOpen);
    await Promise.all(
      folders.map(async (step) => {
        kept.set(step, await this.#combineFolders(step));
      }),
    );
    return kept;
  }

  /** What is kept of entries that not both sides have changed. */
  #decide(step: Step): Entry | undefined {
    if (isOpen(step)) return undefined;
    const [was, one, other] = step;
    note(this.#ours, was, one);
    note(this.#theirs, was, other);
    return isSame(was, one) ? other : one;
  }

  async #combineFolders(step: Step): Promise<Entry | undefined> {
    const [base, ours, theirs] = step.map((entry) => entry && hexOf(entry.id));
    const entry = step.find((one) => one !== undefined);
    if (entry?.mode !== FOLDER) throw new Unclear();
    const tree = await this.combine(base, ours, theirs);
    return tree === undefined ? undefined : { ...entry, id: bytesOf(tree) };
  }

  async #lookInto(side: KnownDoings): Promise<void> {
    const folders = side.folders.splice(0);
    const trees = await this.#readAll(folders.flatMap(({ before, after }) => [before, after]));
    for (let index = 0; index < trees.length; index += 2)
      for (const piece of inStep(trees.slice(index, index + 2)))
        if (typeof piece !== 'string') note(side, piece[0], piece[1]);
  }

  async #readAll(ids: readonly (string | undefined)[]): Promise<Tree[]> {
    const wanted = [...new Set(ids.filter((id) => id !== undefined))];
    this.#read += wanted.length;
    if (this.#read > MAX_READ) throw new Unclear();
    const read = await readTrees(this.#git, this.#repositoryId, wanted);
    if (read.includes(undefined)) throw new Unclear();
    this.#entries += read.reduce((sum, tree) => sum + countOf(tree ?? NO_TREE), 0);
    if (this.#entries > MAX_ENTRIES) throw new Unclear();
    const trees = new Map(wanted.map((id, index) => [id, read[index]]));
    return ids.map((id) => (id === undefined ? NO_TREE : (trees.get(id) ?? NO_TREE)));
  }
}

/** Whether git may take files for renamed in a way that matters. */
const mayCountAsRenamed = (some: Doings, others: Doings) =>
  (some.adds && others.adds && (some.removes || others.removes)) ||
  (some.removes && others.removes && (some.adds || others.adds));

/** Whether each side made something else of it. */
const isOpen = ([was, one, other]: Step) => !isSame(was, one) && !isSame(was, other) && !isSame(one, other);

const isSame = (one: Entry | undefined, other: Entry | undefined) =>
  one === other || (one?.id === other?.id && one?.mode === other?.mode);

function note(side: KnownDoings, was: Entry | undefined, is: Entry | undefined): void {
  if (isSame(was, is)) return;
  if (was === undefined) side.adds = true;
  else if (is === undefined) side.removes = true;
  else if (was.mode === FOLDER) side.folders.push({ before: hexOf(was.id), after: hexOf(is.id) });
}

function hasNameTwice(text: string): boolean {
  const tree = parse(text);
  if (tree === undefined) throw new Unclear();
  const entries = entriesOf(tree);
  const keys = new Set(entries.map(({ key }) => key));
  return entries.some(({ key, mode }) => mode === FOLDER && keys.has(key.slice(0, -1)));
}
