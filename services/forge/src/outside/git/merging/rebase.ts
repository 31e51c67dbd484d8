import { rm } from 'node:fs/promises';
import type { Git } from '../git.ts';
import {
  adoptObjects,
  type GitObject,
  gitObject,
  loosePath,
  type Signature,
  signatureLine,
  someAtOnce,
  writeObjects,
  writeQuarantined,
} from '../objects.ts';
import { readSmallObjects } from '../reading/objects.ts';
import { type CommitData, parseCommit, splitCommit } from '../reading/parse-commit.ts';
import { combineTrees } from './combine-trees.ts';
import { inMergeRoom, type MergedTree, type MergeRoom } from './merge-room.ts';

/** Commits made anew on another one, the first first. */
export interface Rebased {
  /** The last of them, or where they were to go when nothing was left of them. */
  tip: string;
  tree: string;
  conflict?: undefined;
}

/** A commit does not fit on what came before it. */
export interface RebaseConflict {
  conflict: { commit: string; files: string[] };
}

/** What is to be rebased. */
export interface RebasePlan {
  onto: string;
  head: string;
  committer: Signature;
  /** What this and its ancestors have is left out, too: `git rebase --onto`. */
  upstream?: string | undefined;
  /** Signs what is made; then every commit is made anew, also one that is where it belongs. */
  sign?: ((commit: GitObject) => GitObject) | undefined;
  /** Gives the last of the commits other words; then that one is made anew, also where it is where it belongs. */
  reword?: ((message: string) => string) | undefined;
}

/** Bytes of new objects; a rebase of thousands of commits keeps them on the disk. */
const MAX_IN_MEMORY = 16 * 1024 * 1024;
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/**
 * Puts the commits that `head` has and `onto` has not on top of `onto`, one after the other, as `git rebase` does: merges
 * are left out, so is what `onto` has in other words already (the same patch) and what brings nothing any more; authors
 * stay, and commits that are where they belong stay the same. All on the disk when it returns, on no branch yet. Not twice
 * at once in one repository.
 * @param finish makes a last commit of the result
 */
export async function writeRebase(
  git: Git,
  repositoryId: number,
  plan: RebasePlan,
  finish?: (rebased: Rebased) => GitObject | undefined,
): Promise<Rebased | RebaseConflict> {
  const [picks, trees] = await loadPicks(git, repositoryId, plan);
  const start = { tip: plan.onto, tree: trees.get(plan.onto) ?? EMPTY_TREE };
  const objects: GitObject[] = [];
  let size = 0;
  const inMemory: Workbench = {
    async merge({ before, after, onto }) {
      if (size > MAX_IN_MEMORY) return undefined;
      const sides = { base: before, ours: onto, theirs: after };
      const combined = await combineTrees(git, repositoryId, sides);
      for (const object of combined?.objects ?? []) await inMemory.write(object);
      return combined && { tree: combined.tree, conflicts: [] };
    },
    async write(object) {
      objects.push(object);
      size += object.bytes.length;
    },
  };
  const endOf = (picked: Progress) => finish?.(picked) ?? rewordLast(picked, plan);
  const plain = await pickAll(inMemory, plan, trees, { ...start, left: picks });
  if (plain.conflict !== undefined) return plain;
  if (plain.left.length === 0) {
    const last = endOf(plain);
    await writeObjects(git, repositoryId, last === undefined ? objects : [...objects, last]);
    return { tip: last?.id ?? plain.tip, tree: plain.tree };
  }
  return await inMergeRoom(git, repositoryId, 'merges', plan.onto, async (room) => {
    const write = (object: GitObject) => writeQuarantined(room.objects, object);
    await someAtOnce(objects, (some) => Promise.all(some.map(write)));
    const inRoom = { merge: (sides: PickedTrees) => mergeTrees(room, sides), write };
    const rebased = await pickAll(inRoom, plan, trees, plain);
    if (rebased.conflict !== undefined) return rebased;
    const last = endOf(rebased);
    if (last !== undefined) await write(last);
    await adoptObjects(git, repositoryId, room.objects);
    return { tip: last?.id ?? rebased.tip, tree: rebased.tree };
  });
}

interface Pick {
  commit: CommitData;
  content: Buffer;
}

/** The trees of a commit's parent and of itself, and the one its change is to be made in. */
interface PickedTrees {
  before: string;
  after: string;
  onto: string;
}

/** Where commits are picked. */
interface Workbench {
  /** Undefined when that cannot be done here. */
  merge(trees: PickedTrees): Promise<MergedTree | undefined>;
  write(object: GitObject): Promise<void>;
}

/** How far it has come. */
interface Progress extends Rebased {
  left: readonly Pick[];
  /** The commit that was picked last, as it was, and what it stands on now. */
  last?: { content: Buffer; parent: string } | undefined;
}

/** Picks until nothing is left, or until one that cannot be picked here. */
async function pickAll(
  workbench: Workbench,
  { committer, sign }: RebasePlan,
  trees: ReadonlyMap<string, string>,
  { left, ...start }: Progress,
): Promise<Progress | RebaseConflict> {
  let { tip, tree, last } = start;
  for (const [index, { commit, content }] of left.entries()) {
    const [parent] = commit.parents;
    if (parent === tip && sign === undefined) {
      last = { content, parent: tip };
      [tip, tree] = [commit.id, commit.tree];
      continue;
    }
    const before = parent === undefined ? EMPTY_TREE : (trees.get(parent) ?? EMPTY_TREE);
    const picked = { before, after: commit.tree, onto: tree };
    const merged = withoutMerging(picked) ?? (await workbench.merge(picked));
    if (merged === undefined) return { tip, tree, last, left: left.slice(index) };
    if (merged.conflicts.length > 0) return { conflict: { commit: commit.id, files: merged.conflicts } };
    const wasEmpty = commit.tree === before;
    if (merged.tree === tree && !wasEmpty) continue;
    const unsigned = recommit(content, { tree: merged.tree, parent: tip, committer });
    const made = sign?.(unsigned) ?? unsigned;
    await workbench.write(made);
    last = { content, parent: tip };
    [tip, tree] = [made.id, merged.tree];
  }
  return { tip, tree, last, left: [] };
}

function withoutMerging({ before, after, onto }: PickedTrees): MergedTree | undefined {
  if (before === onto) return { tree: after, conflicts: [] };
  return before === after || onto === after ? { tree: onto, conflicts: [] } : undefined;
}

/**
 * What a change from one tree to another makes of a third. git 2.39 merges commits only and finds their base by itself, so
 * there are three for it, of which nothing remains.
 */
async function mergeTrees(room: MergeRoom, { before, after, onto }: PickedTrees): Promise<MergedTree> {
  const base = scaffold(before);
  const [ours, theirs] = [scaffold(onto, base.id), scaffold(after, base.id)];
  const scaffolding = [base, ours, theirs];
  await Promise.all(scaffolding.map((commit) => writeQuarantined(room.objects, commit)));
  try {
    return await room.merge(ours.id, theirs.id);
  } finally {
    await Promise.all(scaffolding.map(({ id }) => rm(loosePath(room.objects, id), { force: true })));
  }
}

/** The same, in a room. */
export async function pickTree(room: MergeRoom, picked: PickedTrees): Promise<MergedTree> {
  return withoutMerging(picked) ?? (await mergeTrees(room, picked));
}

function scaffold(tree: string, parent?: string): GitObject {
  const who = 'croft <> 0 +0000';
  const parents = parent === undefined ? '' : `parent ${parent}\n`;
  return gitObject('commit', Buffer.from(`tree ${tree}\n${parents}author ${who}\ncommitter ${who}\n\n`));
}

/** The last commit with other words, where it got some. */
function rewordLast(
  { tree, last }: Progress,
  { reword, committer, sign }: RebasePlan,
): GitObject | undefined {
  if (reword === undefined || last === undefined) return undefined;
  const { headers, message, decode } = splitCommit(last.content);
  const [before, author] = [decode(message), headers.find(({ name }) => name === 'author')?.value];
  const after = reword(before);
  if (after.trimEnd() === before.trimEnd()) return undefined;
  // All of it in UTF-8, as the new words are: so it names no encoding.
  const lines = author === undefined ? [] : [`author ${decode(author)}`];
  const content = [...lines, '', `${after.replaceAll('\0', '').trimEnd()}\n`].join('\n');
  const made = recommit(Buffer.from(content), { tree, parent: last.parent, committer });
  return sign?.(made) ?? made;
}

/** The same commit elsewhere: its author and its message to the byte, without what was signed for the old place. */
function recommit(
  content: Buffer,
  { tree, parent, committer }: { tree: string; parent: string; committer: Signature },
): GitObject {
  const { headers, message } = splitCommit(content);
  const kept = (name: string) =>
    headers
      .filter((header) => header.name === name)
      .map(({ value }) => Buffer.concat([Buffer.from(`${name} `), value, LINE_END]));
  return gitObject(
    'commit',
    Buffer.concat([
      Buffer.from(`tree ${tree}\nparent ${parent}\n`),
      ...kept('author'),
      Buffer.from(`committer ${signatureLine(committer)}\n`),
      ...kept('encoding'),
      LINE_END,
      message,
    ]),
  );
}

const LINE_END = Buffer.from('\n');

/** The commits to pick, the first first, and the trees of those and of what they were made on. */
async function loadPicks(
  git: Git,
  repositoryId: number,
  { onto, head, upstream }: RebasePlan,
): Promise<[Pick[], ReadonlyMap<string, string>]> {
  const range = ['--reverse', '--topo-order', '--no-merges', '--cherry-pick', '--right-only'];
  const without = upstream === undefined ? [] : [`^${upstream}`];
  const args = ['rev-list', ...range, `${onto}...${head}`, ...without];
  const ids = (await git.output(repositoryId, args))
    .toString()
    .split('\n')
    .filter((line) => line !== '');
  const picks = await Promise.all(
    (await readSmallObjects(git, repositoryId, ids)).map(async (object, index) => {
      if (object === undefined) throw new Error(`commit ${ids[index]} cannot be read`);
      const isWhole = object.content.length === object.size;
      const content = isWhole ? object.content : await readWhole(git, repositoryId, object.id);
      return { commit: parseCommit({ ...object, content }), content };
    }),
  );
  const trees = new Map(picks.map(({ commit }) => [commit.id, commit.tree]));
  const others = [onto, ...picks.flatMap(({ commit }) => commit.parents)].filter((id) => !trees.has(id));
  for (const object of await readSmallObjects(git, repositoryId, [...new Set(others)]))
    if (object !== undefined) trees.set(object.id, parseCommit(object).tree);
  return [picks, trees];
}

/** A commit whose message is longer than the conversation takes. */
async function readWhole(git: Git, repositoryId: number, id: string): Promise<Buffer> {
  return await git.output(repositoryId, ['cat-file', 'commit', id]);
}
