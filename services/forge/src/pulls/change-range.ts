import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { branchRef, readRefs } from '../outside/git/refs.ts';
import { mayRead, type VisibleRepository } from '../repositories/find-repository.ts';
import type { PullRow } from '../store/pulls/pulls.ts';

/**
 * What a pull request changes: everything from its merge base, which is frozen by the merge, to its head, both in the
 * repository of the pull request whatever becomes of branches and forks.
 * @throws 404 for whoever may not read the code: it is code that changes
 */
export async function findChangeRange(
  { git, outlooks }: Context,
  found: VisibleRepository & { pull: PullRow },
): Promise<{ from: string; to: string }> {
  const { repository, pull } = found;
  if (!mayRead(found, 'code')) throw notFound();
  const to = pull.head_sha;
  if (pull.merge_base !== null) return { from: pull.merge_base, to };
  const branches = [pull.base_branch, repository.default_branch];
  const [baseTip, defaultTip] = await readRefs(git, repository.id, branches.map(branchRef));
  // A closed one may have outlived its base, which most likely went where everything goes.
  const base = baseTip ?? defaultTip;
  if (base === undefined) throw notFound('the base branch does not exist');
  const { mergeBase } = await outlooks.of(repository.id, base, to);
  // Unrelated histories have no merge base; everything the head has and the base has not is a change then.
  return { from: mergeBase ?? base, to };
}
