import { rm } from 'node:fs/promises';
import { Failure } from '@croft/failure';
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
import { type CommitNode, parseNode } from '../reading/commit-nodes.ts';
import { describeObjects, MAX_IN_CONVERSATION, readSmallObjects } from '../reading/objects.ts';
import { splitCommit } from '../reading/parse-commit.ts';
import { inTurn } from '../reading/turns.ts';
import { combineTrees } from './combine-trees.ts';
import { inMergeRoom, type MergeRoom } from './merge-room.ts';
import { cleanTree, type MergedTree } from './merged-tree.ts';

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
/** So many commits are picked while the others wait for the branches, and so much of their messages; packed it can be next to nothing. */
const MAX_COMMITS = 5_000;
const MAX_CONTENT_BYTES = 64 * 1024 * 1024;
/** Commits that are read at once. */
const READ_AT_ONCE = 50;
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/**
 * Puts the commits that `head` has and `onto` has not on top of `onto`, one after the other, as `git rebase` does: merges
 * are left out, so is what `onto` has in other words already (the same patch) and what brings nothing any more; authors
 * stay, and commits that are where they belong stay the same. All on the disk when it returns, on no branch yet. Not twice
 * at once in one repository.
 * @param finish makes a last commit of the result
 * @throws 409 for more commits, or longer ones, than are rebased
 */
export async function writeRebase(
  git: Git,
  repositoryId: number,
  plan: RebasePlan,
  finish?: (rebased: Rebased) => GitObject | undefined,
): Promise<Rebased | RebaseConflict> {
  const read: ReadPicks = (some) => readPicks(git, repositoryId, some);
  const [picks, [onto]] = await Promise.all([
    listPicks(git, repositoryId, plan),
    readTreeIds(git, repositoryId, [plan.onto]),
  ]);
  const start = { tip: plan.onto, tree: onto ?? EMPTY_TREE };
  const objects: GitObject[] = [];
  let size = 0;
  const inMemory: Workbench = {
    async merge({ before, after, onto }) {
      if (size > MAX_IN_MEMORY) return undefined;
      const sides = { base: before, ours: onto, theirs: after };
      const combined = await combineTrees(git, repositoryId, sides);
      for (const object of combined?.objects ?? []) await inMemory.write(object);
      return combined && cleanTree(combined.tree);
    },
    async write(object) {
      objects.push(object);
      size += object.bytes.length;
    },
  };
  const endOf = (picked: Progress) => finish?.(picked) ?? rewordLast(picked, plan);
  const plain = await pickAll(inMemory, plan, read, { ...start, left: picks });
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
    const rebased = await pickAll(inRoom, plan, read, plain);
    if (rebased.conflict !== undefined) return rebased;
    const last = endOf(rebased);
    if (last !== undefined) await write(last);
    await adoptObjects(git, repositoryId, room.objects);
    return { tip: last?.id ?? rebased.tip, tree: rebased.tree };
  });
}

/** A commit to pick, which is read when it is its turn. */
interface Pick {
  id: string;
  /** Bytes of its content. */
  size: number;
}

interface ReadPick extends Pick {
  node: CommitNode;
  content: Buffer;
  /** The tree that it was made on. */
  before: string;
}

type ReadPicks = (picks: readonly Pick[]) => Promise<ReadPick[]>;

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
  plan: RebasePlan,
  read: ReadPicks,
  { left, ...start }: Progress,
): Promise<Progress | RebaseConflict> {
  let progress: Progress = { ...start, left: [] };
  for (let from = 0; from < left.length; from += READ_AT_ONCE) {
    const some = await read(left.slice(from, from + READ_AT_ONCE));
    for (const [index, pick] of some.entries()) {
      const next = await pickOne(workbench, plan, pick, progress);
      if (next === undefined) return { ...progress, left: left.slice(from + index) };
      if (next.conflict !== undefined) return next;
      progress = next;
    }
  }
  return progress;
}

/** Undefined when it cannot be picked here. */
async function pickOne(
  workbench: Workbench,
  { committer, sign }: RebasePlan,
  { id, node, content, before }: ReadPick,
  progress: Progress,
): Promise<Progress | RebaseConflict | undefined> {
  const { tip, tree } = progress;
  const last = { content, parent: tip };
  if (node.parents[0] === tip && sign === undefined) return { tip: id, tree: node.tree, last, left: [] };
  const picked = { before, after: node.tree, onto: tree };
  const merged = withoutMerging(picked) ?? (await workbench.merge(picked));
  if (merged === undefined) return undefined;
  if (!merged.isClean) return { conflict: { commit: id, files: merged.conflicts } };
  const wasEmpty = node.tree === before;
  if (merged.tree === tree && !wasEmpty) return progress;
  const unsigned = recommit(content, { tree: merged.tree, parent: tip, committer });
  const made = sign?.(unsigned) ?? unsigned;
  await workbench.write(made);
  return { tip: made.id, tree: merged.tree, last, left: [] };
}

function withoutMerging({ before, after, onto }: PickedTrees): MergedTree | undefined {
  if (before === onto) return cleanTree(after);
  return before === after || onto === after ? cleanTree(onto) : undefined;
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

/**
 * The commits to pick, the first first.
 * @throws 409 for too many, or too long ones
 */
async function listPicks(
  git: Git,
  repositoryId: number,
  { onto, head, upstream }: RebasePlan,
): Promise<Pick[]> {
  const range = ['--reverse', '--topo-order', '--no-merges', '--cherry-pick', '--right-only'];
  const without = upstream === undefined ? [] : [`^${upstream}`];
  const most = `--max-count=${MAX_COMMITS + 1}`;
  const ids = (await git.output(repositoryId, ['rev-list', ...range, most, `${onto}...${head}`, ...without]))
    .toString()
    .split('\n')
    .filter((line) => line !== '');
  if (ids.length > MAX_COMMITS) throw tooMuchToRebase();
  const infos = await describeObjects(git, repositoryId, ids);
  const picks = ids.map((id, index) => ({ id, size: infos[index]?.size ?? 0 }));
  if (picks.reduce((sum, { size }) => sum + size, 0) > MAX_CONTENT_BYTES) throw tooMuchToRebase();
  return picks;
}

const TOO_MUCH = 'rebase_too_large';

/** Whether something was not rebased for being too many commits, or too long ones. */
export const isTooMuchToRebase = ({ code }: Failure): boolean => code === TOO_MUCH;

const tooMuchToRebase = () =>
  new Failure(
    'conflict',
    TOO_MUCH,
    `no more than ${MAX_COMMITS} commits, with ${MAX_CONTENT_BYTES / 1024 / 1024} MB of messages, are rebased here: merge or squash them, or rebase and push them yourself`,
  );

async function readPicks(git: Git, repositoryId: number, picks: readonly Pick[]): Promise<ReadPick[]> {
  const small = picks.filter(({ size }) => size <= MAX_IN_CONVERSATION).map(({ id }) => id);
  const objects = await readSmallObjects(git, repositoryId, small);
  const contents = new Map(objects.map((object, index) => [small[index], object?.content]));
  const read: Omit<ReadPick, 'before'>[] = [];
  for (const { id, size } of picks) {
    const isLong = size > MAX_IN_CONVERSATION;
    const content = isLong ? await readWhole(git, repositoryId, id) : contents.get(id);
    if (content === undefined) throw new Error(`commit ${id} cannot be read`);
    read.push({ id, size, content, node: parseNode(content) });
  }
  const parents = [...new Set(read.flatMap(({ node }) => node.parents[0] ?? []))];
  const trees = await readTreeIds(git, repositoryId, parents);
  const treeOf = new Map(parents.map((id, index) => [id, trees[index]]));
  return read.map((one) => ({ ...one, before: treeOf.get(one.node.parents[0] ?? '') ?? EMPTY_TREE }));
}

/** The trees of commits. */
async function readTreeIds(
  git: Git,
  repositoryId: number,
  commits: readonly string[],
): Promise<(string | undefined)[]> {
  const names = commits.map((id) => `${id}^{tree}`);
  return (await describeObjects(git, repositoryId, names)).map((tree) => tree?.id);
}

/** A commit whose message is longer than the conversation takes. */
async function readWhole(git: Git, repositoryId: number, id: string): Promise<Buffer> {
  return await inTurn(git, () => git.output(repositoryId, ['cat-file', 'commit', id]));
}
