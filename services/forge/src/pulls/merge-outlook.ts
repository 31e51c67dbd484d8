import { LRUCache } from 'lru-cache';
import type { Git } from '../outside/git/git.ts';
import { findMergeBase, tryMerge } from '../outside/git/merging/merge.ts';
import type { MergeOutlook } from '../rules/pulls/mergeable.ts';

/** In a few hundred bytes: as many paths may be in conflict as there are files. */
const weightOf = ({ conflicts }: MergeOutlook) =>
  1 + Math.ceil(conflicts.reduce((sum, path) => sum + path.length + 50, 0) / 500);

/**
 * Tries merges when somebody asks, and remembers the outcome by the two commits: a commit never changes, so nothing
 * has to be invalidated when a branch moves, and no pull request is ever "being checked".
 */
export class MergeOutlooks {
  readonly #git: Git;
  readonly #known = new LRUCache<string, Promise<MergeOutlook>>({
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
    if (known !== undefined) return await known;
    const tried = this.#try(repositoryId, base, head);
    this.#known.set(key, tried);
    try {
      const outlook = await tried;
      this.#known.set(key, tried, { size: weightOf(outlook) });
      return outlook;
    } catch (error) {
      // What failed says nothing about the commits.
      this.#known.delete(key);
      throw error;
    }
  }

  async #try(repositoryId: number, base: string, head: string): Promise<MergeOutlook> {
    const mergeBase = await findMergeBase(this.#git, repositoryId, base, head);
    if (mergeBase === undefined) return { mergeBase, outcome: 'unrelated', conflicts: [] };
    if (mergeBase === head) return { mergeBase, outcome: 'nothing', conflicts: [] };
    // What stands on the base already has nothing to conflict with.
    if (mergeBase === base) return { mergeBase, outcome: 'clean', conflicts: [] };
    const { conflicts } = await tryMerge(this.#git, repositoryId, base, head);
    return { mergeBase, outcome: conflicts.length === 0 ? 'clean' : 'conflicts', conflicts };
  }
}
