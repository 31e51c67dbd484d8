import type { Context } from '../context.ts';
import { headKept } from '../failures.ts';
import { branchRef, moveRefs, readRef } from '../outside/git/refs.ts';
import { decideBranchDeletion } from '../rules/branch-deletion.ts';
import * as pulls from '../store/pulls.ts';
import type { RepositoryRow } from '../store/repositories.ts';
import { branchQueue } from './sync-pulls.ts';

/**
 * Deletes the head branch of a pull request that was just merged. The pull request stays merged whatever this ends
 * with.
 * @throws 403 for the default branch, 404 when the branch is gone, 409 when it was pushed to since
 */
export async function deleteHeadBranch(
  context: Context,
  repository: RepositoryRow,
  number: number,
): Promise<void> {
  const { database, git, queues } = context;
  await queues.inTurn(branchQueue(repository.id), async () => {
    const pull = await pulls.findByNumber(database.autocommit(), repository.id, number);
    if (pull === undefined) return;
    const ref = branchRef(pull.head_branch);
    const [tip, others] = await Promise.all([
      readRef(git, repository.id, ref),
      pulls.countOpenByHead(database.autocommit(), pull.head_repository_id, pull.head_branch, pull.id),
    ]);
    const decision = decideBranchDeletion({
      isDefault: pull.head_branch === repository.default_branch,
      exists: tip !== undefined,
      usedByOthers: others > 0,
    });
    // Compare-and-swap against what was merged: commits that were pushed since then are not thrown away.
    if (decision === 'keep') return;
    if ((await moveRefs(git, repository.id, [{ ref, old: pull.head_sha }])) === 'moved') throw headKept();
  });
}
