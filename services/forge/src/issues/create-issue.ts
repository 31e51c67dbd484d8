import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { checkNotArchived, findRepository, mayWrite } from '../repositories/find-repository.ts';
import { deadlineOf } from '../rules/deadline.ts';
import { checkTitle } from '../rules/issue-edit.ts';
import * as issueAssignees from '../store/issue-assignees.ts';
import * as issues from '../store/issues.ts';
import * as repositories from '../store/repositories.ts';
import { type NamedAssignees, resolveAssignees } from './resolve-assignees.ts';

/** What the poster writes. */
export interface NewIssue extends NamedAssignees {
  title: string;
  body: string;
  ref: string;
  milestone: number;
  deadline: string | undefined;
  closed: boolean;
}

/** Creates an issue; whoever may read may do it, but assignees, deadlines and milestones count for writers only. */
export async function createIssue(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
  wanted: NewIssue,
): Promise<number> {
  const found = await findRepository(context, caller, path);
  checkNotArchived(found);
  const { repository } = found;
  const title = checkTitle(wanted.title);
  const isWriter = mayWrite(found);
  if (isWriter && wanted.milestone > 0) throw notFound(`milestone does not exist [id: ${wanted.milestone}]`);
  const assignees = isWriter ? await resolveAssignees(context, repository, wanted) : undefined;
  const deadlineAt = isWriter && wanted.deadline !== undefined ? deadlineOf(wanted.deadline) : undefined;
  return await context.database.transaction(async (tx) => {
    const number = await repositories.takeNumber(tx, repository.id, 'issue');
    const row = await issues.insert(tx, {
      repositoryId: repository.id,
      number,
      isPull: false,
      posterId: caller.userId,
      title,
      body: wanted.body,
      ref: wanted.ref,
      deadlineAt,
      closed: wanted.closed,
    });
    if (assignees !== undefined) await issueAssignees.replace(tx, row.id, assignees);
    if (wanted.closed) await repositories.addClosed(tx, repository.id, 'issue', 1);
    return number;
  });
}
