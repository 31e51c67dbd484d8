import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound, unacceptable } from '../failures.ts';
import { findIssue, type NumberedPath, type VisibleIssue } from '../issues/find-issue.ts';
import { checkNotArchived, mayWrite } from '../repositories/find-repository.ts';
import * as comments from '../store/issues/comments.ts';
import * as dependencies from '../store/issues/dependencies.ts';
import * as issues from '../store/issues/issues.ts';

/** How a request names the other issue; what is absent is as in the path. */
export interface OtherIssue {
  index: number;
  owner?: string | null | undefined;
  repo?: string | null | undefined;
}

/**
 * Makes one issue wait for another, also of another repository, or ends that.
 * @param side whether the issue of the path is the one that waits, or the one that is waited for
 * @throws 403 for somebody who does not write where the waiting one is, 404 for what he may not read and where the waiting
 * one's repository has no dependencies, 422 for itself, for what is there already and for what would go in a circle, 423
 */
export async function changeDependencies(
  context: Context,
  caller: Caller,
  path: NumberedPath,
  side: dependencies.DependencySide,
  change: { how: 'add' | 'remove'; other: OtherIssue },
): Promise<void> {
  const own = await findIssue(context, caller, path);
  const other = await findIssue(context, caller, {
    owner: change.other.owner || path.owner,
    repo: change.other.repo || path.repo,
    index: String(change.other.index),
  });
  const [waiting, blocker] = side === 'dependencies' ? [own, other] : [other, own];
  if (!waiting.repository.has_dependencies) throw notFound();
  if (!mayWrite(waiting, waiting.issue.is_pull ? 'pulls' : 'issues')) {
    throw forbidden('user should have a permission to write to the issue that waits');
  }
  // Both timelines tell of it.
  for (const told of [waiting, blocker]) checkNotArchived(told);
  await context.database.transaction(async (tx) => {
    await dependencies.lockAll(tx);
    // Held, so that it is not closed at this moment.
    if ((await issues.lockById(tx, waiting.issue.id)) === undefined) throw notFound();
    if (change.how === 'remove') {
      if (!(await dependencies.remove(tx, waiting.issue.id, blocker.issue.id))) throw notFound();
    } else {
      if (waiting.issue.id === blocker.issue.id) throw unacceptable('an issue cannot depend on itself');
      if (await dependencies.waitsFor(tx, blocker.issue.id, waiting.issue.id)) {
        throw unacceptable('the dependency would go in a circle');
      }
      if (!(await dependencies.insert(tx, waiting.issue.id, blocker.issue.id))) {
        throw unacceptable('the dependency exists already');
      }
    }
    const kind = change.how === 'add' ? 'add_dependency' : 'remove_dependency';
    const entry = (of: VisibleIssue, on: VisibleIssue) => ({
      issueId: of.issue.id,
      kind,
      posterId: caller.userId,
      details: { dependent_issue: on.issue.id },
    });
    await comments.add(tx, entry(waiting, blocker));
    await comments.add(tx, entry(blocker, waiting));
  });
}
