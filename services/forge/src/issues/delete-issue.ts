import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { announce } from '../events/announce.ts';
import { notFound } from '../failures.ts';
import { betweenMerges } from '../pulls/change-pull.ts';
import { presentPulls } from '../pulls/present-pulls.ts';
import { checkAdmin, checkNotArchived } from '../repositories/find-repository.ts';
import * as issues from '../store/issues/issues.ts';
import * as pulls from '../store/pulls/pulls.ts';
import { findIssue, type NumberedPath, type VisibleIssue } from './find-issue.ts';
import { presentIssues } from './present-issues.ts';

/**
 * Deletes an issue or pull request with everything that was said about it. Its number stays taken.
 * @throws 403 for others than administrators of the repository, 404, 423
 */
export async function deleteIssue(context: Context, caller: Caller, path: NumberedPath): Promise<void> {
  const found = await findIssue(context, caller, path);
  checkAdmin(found);
  checkNotArchived(found);
  const { issue, repository } = found;
  const deleted = { number: issue.number, isPull: issue.is_pull, json: await presentLast(context, found) };
  const remove = () =>
    context.database.transaction(async (tx) => {
      const current = await issues.lockById(tx, issue.id);
      if (current === undefined) throw notFound();
      const where = { kind: 'issue', issueId: issue.id, repositoryId: repository.id } as const;
      await announce(tx, { ...where, action: 'deleted', deleted, actorId: caller.userId });
      await issues.deleteById(tx, issue.id);
    });
  if (issue.pull_id === null) await remove();
  else await betweenMerges(context, { id: issue.pull_id, repositoryId: repository.id }, remove);
}

/** What is going to be deleted, as nobody in particular sees it. */
async function presentLast(context: Context, found: VisibleIssue): Promise<object> {
  const { issue, repository } = found;
  const tx = context.database.autocommit();
  const pull = issue.is_pull ? await pulls.findByNumber(tx, repository.id, issue.number) : undefined;
  const [json] =
    pull === undefined
      ? await presentIssues(context, undefined, found, [issue])
      : await presentPulls(context, undefined, found, [pull]);
  if (json === undefined) throw notFound();
  return json;
}
