import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, unacceptable } from '../failures.ts';
import { betweenMerges, changePull } from '../pulls/change-pull.ts';
import { checkNotArchived, mayWrite } from '../repositories/find-repository.ts';
import type { WantedEdit } from '../rules/issue-edit.ts';
import { changeIssue } from './change-issue.ts';
import { findIssue, type NumberedPath } from './find-issue.ts';
import { type NamedAssignees, resolveAssignees } from './resolve-assignees.ts';

/** What a request may change about an issue. */
export interface WantedIssueEdit extends WantedEdit, NamedAssignees {
  milestone?: number | null | undefined;
}

/** Edits an issue: its poster and writers may, and some of it only writers. */
export async function editIssue(
  context: Context,
  caller: Caller,
  path: NumberedPath,
  wanted: WantedIssueEdit,
): Promise<void> {
  const found = await findIssue(context, caller, path);
  const { issue } = found;
  const isWriter = mayWrite(found);
  checkMayEdit(caller, issue, isWriter);
  checkNotArchived(found);
  if (isWriter && wanted.milestone) throw unacceptable(`milestone does not exist [id: ${wanted.milestone}]`);
  const assignees = isWriter ? await resolveAssignees(context, found.repository, wanted) : undefined;
  const edit = { ...wanted, isWriter, assignees };
  if (issue.pull_id !== null && typeof wanted.state === 'string') {
    const pull = { id: issue.pull_id, repositoryId: issue.repository_id };
    await betweenMerges(context, pull, (now) => changePull(context, now, edit));
  } else {
    await context.database.transaction((tx) => changeIssue(tx, issue.id, edit));
  }
}

/** @throws 403 for somebody who is neither the poster nor a writer */
export function checkMayEdit(caller: Caller, posted: { poster_id: number }, isWriter: boolean): void {
  if (!isWriter && posted.poster_id !== caller.userId)
    throw forbidden('only the poster and writers may edit this');
}
