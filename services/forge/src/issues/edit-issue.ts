import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden } from '../failures.ts';
import { betweenMerges, changePull } from '../pulls/change-pull.ts';
import { checkNotArchived, mayWrite } from '../repositories/find-repository.ts';
import type { WantedEdit } from '../rules/issues/issue-edit.ts';
import { changeIssue, type IssueEdit } from './change-issue.ts';
import { findIssue, type NumberedPath, type VisibleIssue } from './find-issue.ts';
import { resolveWishes, type Wishes } from './resolve-wishes.ts';

/** What a request may change about an issue. */
export interface WantedIssueEdit extends WantedEdit, Wishes {
  contentVersion?: number | null | undefined;
}

/**
 * Edits an issue: its poster and writers may, and some of it only writers. Everything or nothing.
 * @throws 403, 404, 409 when the content changed meanwhile, 412 for open dependencies, 422, 423
 */
export async function editIssue(
  context: Context,
  caller: Caller,
  path: NumberedPath,
  wanted: WantedIssueEdit,
): Promise<void> {
  const found = await findIssue(context, caller, path);
  const { issue } = found;
  const isWriter = mayWrite(found, issue.is_pull ? 'pulls' : 'issues');
  checkMayEdit(caller, issue, isWriter);
  checkNotArchived(found);
  const named = isWriter ? withEmptied(wanted) : {};
  const wishes = await resolveWishes(context, found.repository, named, { assigned: issue.assignee_ids });
  // 0 takes the milestone away.
  const milestone = isWriter && wanted.milestone === 0 ? null : wishes.milestone;
  await applyEdit(context, found, {
    ...wanted,
    actorId: caller.userId,
    isWriter,
    assignees: wishes.assignees,
    labels: wishes.labels,
    milestone,
  });
}

/** An empty `assignee` is a word about the assignees: there are none but those of the list. */
function withEmptied(wanted: WantedIssueEdit): Wishes {
  return wanted.assignee === '' ? { ...wanted, assignees: wanted.assignees ?? [] } : wanted;
}

/** Does a checked edit; the state of a pull request changes only between its merges. */
async function applyEdit(context: Context, { issue }: VisibleIssue, edit: IssueEdit): Promise<void> {
  if (issue.pull_id !== null && typeof edit.state === 'string') {
    const pull = { id: issue.pull_id, repositoryId: issue.repository_id };
    await betweenMerges(context, pull, (now) => changePull(context, now, edit));
  } else {
    await context.database.transaction((tx) => changeIssue(tx, issue.id, edit));
  }
}

/** @throws 403 for somebody who is neither the poster nor a writer */
export function checkMayEdit(caller: Caller, posted: { poster_id: number | null }, isWriter: boolean): void {
  if (!isWriter && posted.poster_id !== caller.userId)
    throw forbidden('only the poster and writers may edit this');
}
