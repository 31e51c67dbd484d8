import { LRUCache } from 'lru-cache';
import { objectsOf } from '../environment.ts';
import type { Git } from '../git.ts';
import { GitFailed } from '../git-failed.ts';
import { type CommitNode, readNode, recallNode } from '../reading/commit-nodes.ts';
import { CommitQueue } from './commit-queue.ts';

/** So many commits are asked for one after the other; from there on a program, which reads a commit-graph, is faster. */
const MAX_READ = 300;
/** So many are walked through that are known already. */
const MAX_VISITED = 20_000;

/** Sides from which a commit is reached, as bits. */
const ONE = 1;
const OTHER = 2;
/** Reached from a common ancestor: a common ancestor, but not one of the best. */
const STALE = 4;

interface Visit {
  id: string;
  node: CommitNode;
  flags: number;
  /** How often it stands in the queue. */
  queued: number;
}

/** Thrown when a walk is too long, or what it needs cannot be read. */
class GivenUp extends Error {
  override readonly name = 'GivenUp';
}

/** Of which pairs of commits the ancestors are remembered; commits never change. */
const known = new LRUCache<string, readonly string[]>({
  maxSize: 20_000,
  sizeCalculation: (bases) => 1 + bases.length,
});

/**
 * The best common ancestor of two commits; undefined when their histories are unrelated. The one `git merge-base`
 * prints, found without a process where the two parted some hundred commits ago.
 * @param beside id of another repository, whose objects are needed as well
 */
export async function findMergeBase(
  git: Git,
  repositoryId: number,
  one: string,
  other: string,
  beside?: number,
): Promise<string | undefined> {
  return (await listMergeBases(git, repositoryId, one, other, beside))[0];
}

/** All best common ancestors, in git's order. */
export async function listMergeBases(
  git: Git,
  repositoryId: number,
  one: string,
  other: string,
  beside?: number,
): Promise<readonly string[]> {
  const key = `${one} ${other}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const walked = beside === undefined ? await walkToMergeBases(git, repositoryId, one, other) : undefined;
  const found = walked ?? (await askForMergeBases(git, repositoryId, one, other, beside));
  known.set(key, found);
  return found;
}

async function askForMergeBases(
  git: Git,
  repositoryId: number,
  one: string,
  other: string,
  beside: number | undefined,
): Promise<string[]> {
  const args = ['merge-base', '--all', '--end-of-options', one, other];
  const { stdout, ...exit } = await git.run(repositoryId, args, undefined, objectsOf(git, beside));
  // It ends with 1 where there is none.
  if (exit.code !== 0 && exit.code !== 1) throw new GitFailed(repositoryId, args, exit);
  return stdout
    .toString()
    .split('\n')
    .filter((line) => line !== '');
}

/** The same without a process; undefined where that would take too long, and for what is not there. */
export async function walkToMergeBases(
  git: Git,
  repositoryId: number,
  one: string,
  other: string,
): Promise<string[] | undefined> {
  const walk = new Walk(git, repositoryId);
  try {
    const found = await walk.commonAncestors(one, [other]);
    return (found.length < 2 ? found : await withoutRedundant(walk, found)).map(({ id }) => id);
  } catch (error) {
    if (error instanceof GivenUp) return undefined;
    throw error;
  }
}

/**
 * Commits that a commit has in its history and others have not, the newest first, without a process; undefined where that
 * would take too long.
 */
export async function walkNewCommits(
  git: Git,
  repositoryId: number,
  head: string,
  not: readonly string[],
): Promise<string[] | undefined> {
  try {
    return (await new Walk(git, repositoryId).onlyIn(head, not)).map(({ id }) => id);
  } catch (error) {
    if (error instanceof GivenUp) return undefined;
    throw error;
  }
}

/** Clocks that went wrong let a walk find an ancestor of what it finds later. */
async function withoutRedundant(walk: Walk, found: readonly Visit[]): Promise<Visit[]> {
  const redundant = new Set<string>();
  for (const { id } of found) {
    if (redundant.has(id)) continue;
    const others = found.filter((one) => one.id !== id && !redundant.has(one.id)).map((one) => one.id);
    await walk.commonAncestors(id, others);
    if (walk.reached(id, OTHER)) redundant.add(id);
    for (const other of others) if (walk.reached(other, ONE)) redundant.add(other);
  }
  return found.filter(({ id }) => !redundant.has(id));
}

/** Goes back from commits, the newest first, and marks from which side each is reached: git's own way. */
class Walk {
  readonly #git: Git;
  readonly #repositoryId: number;
  #visits = new Map<string, Visit>();
  #queue = new CommitQueue<Visit>();
  /** Entries of the queue that may still lead to a better ancestor. */
  #promising = 0;
  #reads = 0;
  #visited = 0;

  constructor(git: Git, repositoryId: number) {
    this.#git = git;
    this.#repositoryId = repositoryId;
  }

  /** Common ancestors of a commit and any of the others that no common ancestor led to, newest first. */
  async commonAncestors(one: string, others: readonly string[]): Promise<Visit[]> {
    this.#visits = new Map();
    this.#queue = new CommitQueue();
    this.#promising = 0;
    // Both at once; from here on they are known.
    await Promise.all([one, ...others].map((id) => readNode(this.#git, this.#repositoryId, id)));
    await this.#mark([one], ONE);
    await this.#mark(others, OTHER);
    const found = new Set<Visit>();
    while (this.#promising > 0) {
      const visit = this.#queue.take();
      if (visit === undefined) break;
      visit.queued--;
      if ((visit.flags & STALE) === 0) this.#promising--;
      const isCommon = (visit.flags & (ONE | OTHER)) === (ONE | OTHER);
      if (isCommon && (visit.flags & STALE) === 0) found.add(visit);
      const marked = this.#markParents(visit, isCommon ? ONE | OTHER | STALE : visit.flags);
      if (marked !== undefined) await marked;
    }
    // Of equal dates the one that was found first stays first.
    return [...found].filter(({ flags }) => (flags & STALE) === 0).sort((a, b) => b.node.date - a.node.date);
  }

  /** What is in the history of one and of none of the others, newest first. */
  async onlyIn(one: string, others: readonly string[]): Promise<Visit[]> {
    await this.#mark(others, OTHER | STALE);
    await this.#mark([one], ONE);
    const found = new Set<Visit>();
    while (this.#promising > 0) {
      const visit = this.#queue.take();
      if (visit === undefined) break;
      visit.queued--;
      const isNew = (visit.flags & STALE) === 0;
      if (isNew) this.#promising--;
      if (isNew) found.add(visit);
      const marked = this.#markParents(visit, visit.flags);
      if (marked !== undefined) await marked;
      // With clocks that went wrong it would end before it has met everything that the others have.
      if (visit.node.parents.some((id) => (this.#visits.get(id)?.node.date ?? 0) > visit.node.date))
        throw new GivenUp();
    }
    return [...found].filter(({ flags }) => (flags & STALE) === 0);
  }

  /** Whether the last walk reached a commit from a side. */
  reached(id: string, side: number): boolean {
    return ((this.#visits.get(id)?.flags ?? 0) & side) !== 0;
  }

  /** Undefined when it is done: to wait for what is known would be most of a walk. */
  #markParents({ node: { parents } }: Visit, flags: number): Promise<void> | undefined {
    return this.#markKnown(parents, flags) ? undefined : this.#mark(parents, flags);
  }

  async #mark(ids: readonly string[], flags: number): Promise<void> {
    const unknown = ids.filter((id) => this.#visitOf(id) === undefined);
    const read = unknown.length === 0 ? [] : await this.#read(unknown);
    if (read.includes(undefined) || !this.#markKnown(ids, flags)) throw new GivenUp();
  }

  /** Does nothing when one of them is not known. */
  #markKnown(ids: readonly string[], flags: number): boolean {
    const visits = ids.map((id) => this.#visitOf(id));
    if (visits.includes(undefined)) return false;
    for (const visit of visits as Visit[]) {
      if ((visit.flags & flags) === flags) continue;
      if (++this.#visited > MAX_VISITED) throw new GivenUp();
      this.#reach(visit, flags);
    }
    return true;
  }

  #visitOf(id: string): Visit | undefined {
    const before = this.#visits.get(id);
    if (before !== undefined) return before;
    const node = recallNode(id);
    const visit = node && { id, node, flags: 0, queued: 0 };
    if (visit !== undefined) this.#visits.set(id, visit);
    return visit;
  }

  #reach(visit: Visit, flags: number): void {
    const wasPromising = (visit.flags & STALE) === 0;
    visit.flags |= flags;
    const isPromising = (visit.flags & STALE) === 0;
    if (wasPromising && !isPromising) this.#promising -= visit.queued;
    visit.queued++;
    if (isPromising) this.#promising++;
    this.#queue.put(visit.node.date, visit);
  }

  async #read(ids: readonly string[]): Promise<(CommitNode | undefined)[]> {
    this.#reads += ids.length;
    if (this.#reads > MAX_READ) throw new GivenUp();
    return await Promise.all(ids.map((id) => readNode(this.#git, this.#repositoryId, id)));
  }
}
