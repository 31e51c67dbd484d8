import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { announce } from '../events/announce.ts';
import { notFound } from '../failures.ts';
import { betweenMerges } from '../pulls/change-pull.ts';
import { checkAdmin, checkNotArchived } from '../repositories/find-repository.ts';
import * as issues from '../store/issues/issues.ts';
import { findIssue, type NumberedPath } from './find-issue.ts';

/**
 * Deletes an issue or pull request with everything that was said about it. Its number stays taken.
 * @throws 403 for others than administrators of the repository, 404, 423
 */
export async function deleteIssue(context: Context, caller: Caller, path: NumberedPath): Promise<void> {
  const found = await findIssue(context, caller, path);
  checkAdmin(found);
  checkNotArchived(found);
  const { issue, repository } = found;
  const remove = () =>
    context.database.transaction(async (tx) => {
      const current = await issues.lockById(tx, issue.id);
      if (current === undefined) throw notFound();
      const where = { kind: 'issue', issueId: issue.id, repositoryId: repository.id } as const;
      await announce(tx, { ...where, action: 'deleted', actorId: caller.userId });
      await issues.deleteById(tx, issue.id);
    });
  if (issue.pull_id === null) await remove();
  else await betweenMerges(context, { id: issue.pull_id, repositoryId: repository.id }, remove);
}
