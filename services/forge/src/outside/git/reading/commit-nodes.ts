import { LRUCache } from 'lru-cache';
import type { Git } from '../git.ts';
import type { GitObject } from '../objects.ts';
import { readSmallObjects } from './objects.ts';

/** What walks through histories need of a commit. */
export interface CommitNode {
  tree: string;
  parents: readonly string[];
  /** When it was committed, in seconds. */
  date: number;
}

/** A commit never changes, so this is never wrong; a few hundred bytes each, and a hundred a parent. */
const known = new LRUCache<string, CommitNode>({
  maxSize: 50_000,
  sizeCalculation: ({ parents }) => Math.max(1, parents.length - 1),
});
/** What is being read, for those who want it as well. */
const reading = new Map<string, Promise<CommitNode | undefined>>();

/** A commit that was read before. */
export const recallNode = (id: string): CommitNode | undefined => known.get(id);

/** Remembers a commit that was just written. */
export function keepNode({ id, bytes }: GitObject): void {
  known.set(id, parseNode(bytes.subarray(bytes.indexOf(0) + 1)));
}

/** A commit by its whole id; undefined when it is missing, damaged or none. */
export async function readNode(git: Git, repositoryId: number, id: string): Promise<CommitNode | undefined> {
  const before = known.get(id);
  if (before !== undefined) return before;
  const key = `${git.folderOf(repositoryId)} ${id}`;
  const underWay = reading.get(key) ?? look(git, repositoryId, id).finally(() => reading.delete(key));
  reading.set(key, underWay);
  return await underWay;
}

async function look(git: Git, repositoryId: number, id: string): Promise<CommitNode | undefined> {
  const [object] = await readSmallObjects(git, repositoryId, [id]);
  if (object?.type !== 'commit') return undefined;
  const node = parseNode(object.content);
  known.set(id, node);
  return node;
}

/** Of the content of a commit: `tree`, a line for each `parent`, `author`, `committer`: in this order, or git itself does not read it. */
export function parseNode(content: Buffer): CommitNode {
  const parents: string[] = [];
  let at = TREE_LINE;
  for (; content.toString('latin1', at, at + 7) === 'parent '; at += PARENT_LINE)
    parents.push(content.toString('latin1', at + 7, at + PARENT_LINE - 1));
  const start = content.indexOf('\n', at) + 1;
  const line = content.toString('latin1', start, content.indexOf('\n', start));
  const [, seconds = '0'] = /^committer [^>]*> *(\d+)/.exec(line) ?? [];
  return { tree: content.toString('latin1', 5, TREE_LINE - 1), parents, date: Number(seconds) };
}

const TREE_LINE = 46;
const PARENT_LINE = 48;
