import type { Caller } from '../caller/caller.ts';
import { moderates } from '../comments/find-comment.ts';
import type { Context } from '../context.ts';
import { forbidden } from '../failures.ts';
import { findIssue, type NumberedPath, type VisibleIssue } from '../issues/find-issue.ts';
import { checkNotArchived } from '../repositories/find-repository.ts';

/**
 * An issue or pull request, for something that is the business of writers.
 * @throws 403 for others, 404, 423
 */
export async function findIssueToModerate(
  context: Context,
  caller: Caller,
  path: NumberedPath,
): Promise<VisibleIssue> {
  const found = await findIssue(context, caller, path);
  if (!moderates(found, found.issue)) throw forbidden('write permission is required');
  checkNotArchived(found);
  return found;
}
