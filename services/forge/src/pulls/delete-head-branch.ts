import { loadPushRules, refuseMove } from '../branches/push-rules.ts';
import type { Context } from '../context.ts';
import { headKept } from '../failures.ts';
import { beginPush, recordPush } from '../git-http/record-push.ts';
import { branchRef, moveRefs, NO_COMMIT, readRef } from '../outside/git/refs.ts';
import { decideBranchDeletion } from '../rules/pulls/branch-deletion.ts';
import * as pulls from '../store/pulls/pulls.ts';
import type { PushRow } from '../store/repositories/pushes.ts';
import * as pushes from '../store/repositories/pushes.ts';
import type { VisiblePull } from './find-pull.ts';
import { branchQueue } from './sync-pulls.ts';

/**
 * Deletes the head branch of a pull request that was just merged. The pull request stays merged whatever this ends
 * with.
 * @throws 403 for the default branch and a protected one, 404 when the branch is gone, 409 when it was pushed to since
 */
export async function deleteHeadBranch(context: Context, actorId: number, found: VisiblePull): Promise<void> {
  const { repository } = found;
  const { database, git, queues } = context;
  const deletion = await queues.inTurn(branchQueue(repository.id), async (): Promise<PushRow | undefined> => {
    const pull = await pulls.findByNumber(database.autocommit(), repository.id, found.pull.number);
    if (pull === undefined) return undefined;
    const ref = branchRef(pull.head_branch);
    const [rules, tip, others] = await Promise.all([
      loadPushRules(context, found, actorId),
      readRef(git, repository.id, ref),
      pulls.countOpenByHead(database.autocommit(), pull.head_repository_id, pull.head_branch, pull.id),
    ]);
    const decision = decideBranchDeletion({
      isDefault: pull.head_branch === repository.default_branch,
      isProtected: refuseMove(rules, pull.head_branch, 'delete') !== undefined,
      exists: tip !== undefined,
      usedByOthers: others > 0,
    });
    // Compare-and-swap against what was merged: commits that were pushed since then are not thrown away.
    if (decision === 'keep') return undefined;
    const moves = [{ ref, before: pull.head_sha, after: NO_COMMIT }];
    const push = await beginPush(context, repository.id, actorId, { moves });
    if ((await moveRefs(git, repository.id, [{ ref, old: pull.head_sha }])) === 'done') return push;
    await pushes.remove(database.autocommit(), push.id);
    throw headKept();
  });
  if (deletion !== undefined) await recordPush(context, deletion, deletion.details.moves);
}
