import type { Context } from '../context.ts';
import { findMergeBase } from '../outside/git/merging/merge.ts';
import * as baseMoves from '../store/pulls/base-moves.ts';
import type { PullRow } from '../store/pulls/pulls.ts';

/**
 * The merge base from before a merge by hand; undefined where there was none. The base has the head by now, so that theirs
 * is the head itself. Where its merge commit is named, the side that did not have the head says where the two met; after a
 * fast-forward only the push does that brought it.
 * @param base where the base branch is, which has the commit that is said to have merged it
 */
export async function findOriginalBase(
  { database, git }: Context,
  { repository_id: repositoryId, base_branch: branch, head_sha: head }: PullRow,
  { base, commit, parents }: { base: string; commit: string; parents: readonly string[] },
): Promise<string | undefined> {
  const meet = (tip: string) => findMergeBase(git, repositoryId, tip, head);
  const now = await meet(base);
  // Squashed or rebased by hand: the base never got the head.
  if (now !== head) return now;
  const isLater = commit !== head && (await meet(commit)) === head;
  const sides = isLater ? await Promise.all(parents.map(async (id) => (await meet(id)) ?? id)) : [];
  // The other way round it may be a merge of something else, into the head.
  if (parents.includes(head) && sides[0] !== head) return sides[0];
  // A commit that a branch lost may be gone, and says nothing.
  const has = async (tip: string) => (await meet(tip).catch(() => head)) === head;
  const moves = await baseMoves.list(database.autocommit(), repositoryId, branch);
  const move = await findBringing(moves, has);
  if (move === undefined) return sides.find((met) => met !== head) ?? head;
  return (await meet(move.before_sha)) ?? move.before_sha;
}

/**
 * The last move before which a branch did not have something that it has by now, if it was this one that brought it. Mostly
 * that is a late one, so the steps back begin small.
 * @param moves the newest first
 */
async function findBringing(
  moves: readonly baseMoves.BaseMove[],
  has: (tip: string) => Promise<boolean>,
): Promise<baseMoves.BaseMove | undefined> {
  const hadIt = async (index: number) => await has((moves[index] as baseMoves.BaseMove).before_sha);
  let [having, lacking] = [-1, 0];
  while (lacking < moves.length && (await hadIt(lacking))) [having, lacking] = [lacking, 2 * lacking + 1];
  lacking = Math.min(lacking, moves.length);
  while (lacking - having > 1) {
    const middle = Math.floor((having + lacking) / 2);
    if (await hadIt(middle)) having = middle;
    else lacking = middle;
  }
  const found = moves[lacking];
  return found !== undefined && (await has(found.after_sha)) ? found : undefined;
}
