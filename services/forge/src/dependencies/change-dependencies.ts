import type { Caller } from '../caller/caller.ts';
import { moderates } from '../comments/find-comment.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound, repositoryArchived, unacceptable } from '../failures.ts';
import { findIssue, type NumberedPath, type VisibleIssue } from '../issues/find-issue.ts';
import { checkNotArchived } from '../repositories/find-repository.ts';
import { viewerOf } from '../rules/access/permission.ts';
import { readIndex } from '../rules/requests/read-id.ts';
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
 * Makes one issue wait for another, also of another repository, or ends that. What is waited for may have been hidden from
 * whoever waits meanwhile: it is let go by the path it had, and nothing is told of it.
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
  const named = {
    owner: change.other.owner || path.owner,
    repo: change.other.repo || path.repo,
    index: String(change.other.index),
  };
  const letsGo = side === 'dependencies' && change.how === 'remove';
  const other = letsGo ? undefined : await findIssue(context, caller, named);
  const waiting = side === 'blocks' && other !== undefined ? other : own;
  if (!waiting.repository.has_dependencies) throw notFound();
  if (!moderates(waiting, waiting.issue)) {
    throw forbidden('user should have a permission to write to the issue that waits');
  }
  const blocker =
    other === undefined
      ? await findWaitedFor(context, caller, own, named)
      : endOf(side === 'dependencies' ? other : own);
  // Both timelines tell of it, but of a hidden one that is archived, which is hidden, too, and of one that is locked.
  checkNotArchived(waiting);
  if (blocker.archived && !blocker.isHidden) throw repositoryArchived();
  const told = [
    { issueId: waiting.issue.id, on: blocker.id },
    ...(blocker.archived || blocker.isLocked ? [] : [{ issueId: blocker.id, on: waiting.issue.id }]),
  ];
  await context.database.transaction(async (tx) => {
    await dependencies.lockAll(tx);
    // Held, so that it is not closed at this moment.
    if ((await issues.lockById(tx, waiting.issue.id)) === undefined) throw notFound();
    if (!(await dependencies.keep(tx, blocker.id))) throw notFound();
    if (change.how === 'remove') {
      if (!(await dependencies.remove(tx, waiting.issue.id, blocker.id))) throw notFound();
    } else {
      if (waiting.issue.id === blocker.id) throw unacceptable('an issue cannot depend on itself');
      if (await dependencies.waitsFor(tx, blocker.id, waiting.issue.id)) {
        throw unacceptable('the dependency would go in a circle');
      }
      if (!(await dependencies.insert(tx, waiting.issue.id, blocker.id))) {
        throw unacceptable('the dependency exists already');
      }
    }
    const kind = change.how === 'add' ? 'add_dependency' : 'remove_dependency';
    for (const { issueId, on } of told) {
      const details = { dependent_issue: on };
      await comments.add(tx, { issueId, kind, posterId: caller.userId, details });
    }
  });
}

const endOf = ({ issue, ...found }: VisibleIssue): dependencies.WaitedFor => ({
  id: issue.id,
  archived: found.repository.archived,
  isHidden: false,
  isLocked: issue.locked_at !== null && !moderates(found, issue),
});

/** Looked for among what the issue waits for only, so the answer tells of nothing else. */
async function findWaitedFor(
  { database }: Context,
  caller: Caller,
  { issue }: VisibleIssue,
  { owner, repo, index }: NumberedPath,
): Promise<dependencies.WaitedFor> {
  const path = { owner, repo, number: readIndex(index) };
  const found = await dependencies.findWaitedFor(database.autocommit(), issue.id, path, viewerOf(caller));
  if (found === undefined) throw notFound();
  return found;
}
