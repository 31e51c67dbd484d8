import { LRUCache } from 'lru-cache';
import type { Git } from '../outside/git/git.ts';
import { findMergeBase, tryMerge } from '../outside/git/merging/merge.ts';
import type { MergeOutlook } from '../rules/pulls/mergeable.ts';

/** In a few hundred bytes: names of a hundred files may be of some length. */
const weightOf = ({ conflicts }: MergeOutlook) =>
  1 + Math.ceil(conflicts.reduce((sum, path) => sum + path.length + 50, 0) / 500);

/** An outlook, and whether it is one for want of memory or time. */
interface Tried {
  outlook: MergeOutlook;
  isGivenUp: boolean;
}

/** Milliseconds for which that one is remembered. */
const GIVEN_UP_MS = 60_000;

/**
 * Tries merges when somebody asks, and remembers the outcome by the two commits: a commit never changes, so nothing
 * has to be invalidated when a branch moves, and no pull request is ever "being checked".
 */
export class MergeOutlooks {
  readonly #git: Git;
  readonly #known = new LRUCache<string, Promise<Tried>>({
    maxSize: 20_000,
    sizeCalculation: () => 1,
  });

  constructor(git: Git) {
    this.#git = git;
  }

  /** The outlook for two commits of a repository. */
  async of(repositoryId: number, base: string, head: string): Promise<MergeOutlook> {
    const key = `${base} ${head}`;
    const known = this.#known.get(key);
    if (known !== undefined) return (await known).outlook;
    const tried = this.#try(repositoryId, base, head);
    this.#known.set(key, tried);
    try {
      const outcome = await tried;
      const { outlook, isGivenUp } = outcome;
      // What there was no memory or time for is tried again, but not for everybody who looks.
      const kept = { size: weightOf(outlook), ttl: isGivenUp ? GIVEN_UP_MS : 0 };
      // Another promise: the same one would keep the size it had.
      this.#known.set(key, Promise.resolve(outcome), kept);
      return outlook;
    } catch (error) {
      // What failed says nothing about the commits.
      this.#known.delete(key);
      throw error;
    }
  }

  async #try(repositoryId: number, base: string, head: string): Promise<Tried> {
    const known = (outlook: MergeOutlook) => ({ outlook, isGivenUp: false });
    const mergeBase = await findMergeBase(this.#git, repositoryId, base, head);
    if (mergeBase === undefined) return known({ mergeBase, outcome: 'unrelated', conflicts: [] });
    if (mergeBase === head) return known({ mergeBase, outcome: 'nothing', conflicts: [] });
    // What stands on the base already has nothing to conflict with.
    if (mergeBase === base) return known({ mergeBase, outcome: 'clean', conflicts: [] });
    const { isClean, conflicts, isGivenUp = false } = await tryMerge(this.#git, repositoryId, base, head);
    return { outlook: { mergeBase, outcome: isClean ? 'clean' : 'conflicts', conflicts }, isGivenUp };
  }
}
