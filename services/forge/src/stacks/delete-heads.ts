import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { deleteHeadBranch } from '../pulls/delete-head-branch.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import type { PullWithIssue } from '../store/pulls/pulls.ts';
import { named } from './prepare-stack.ts';

/**
 * Deletes the head branches of pull requests that were just merged together, each as if it had been merged alone.
 * @throws what keeps the first one that is kept, after a look at all
 */
export async function deleteHeads(
  context: Context,
  caller: Caller,
  found: VisibleRepository,
  members: readonly PullWithIssue[],
): Promise<void> {
  const refusals: unknown[] = [];
  for (const pull of members) {
    const deletion = named(pull, () => deleteHeadBranch(context, caller, { ...found, pull }));
    await deletion.catch((error: unknown) => refusals.push(error));
  }
  if (refusals.length > 0) throw refusals[0];
}
