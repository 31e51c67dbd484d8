import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { announce } from '../events/announce.ts';
import { forbidden, notFound, unacceptable } from '../failures.ts';
import { checkNotArchived, mayWrite } from '../repositories/find-repository.ts';
import * as issueWishes from '../store/issues/issue-wishes.ts';
import * as issues from '../store/issues/issues.ts';
import { assign } from './change-issue.ts';
import { findIssue, type NumberedPath, type VisibleIssue } from './find-issue.ts';
import { MAX_ASSIGNEES, resolveWishes } from './resolve-wishes.ts';

/**
 * Assigns people to an issue or pull request besides those who are, or takes some of them away.
 * @throws 403 for others than writers, 404, 422 for a name nobody has and for somebody who cannot be assigned, 423
 */
export async function changeAssignees(
  context: Context,
  caller: Caller,
  path: NumberedPath,
  wanted: { how: 'add' | 'remove'; assignees: readonly string[] },
): Promise<void> {
  const found = await findIssue(context, caller, path);
  if (!mayWrite(found, found.issue.is_pull ? 'pulls' : 'issues')) throw forbidden('Not repo writer');
  checkNotArchived(found);
  const named = await namedAccounts(context, found, wanted);
  await context.database.transaction(async (tx) => {
    const current = await issues.lockById(tx, found.issue.id);
    if (current === undefined) throw notFound();
    const ids = named.map(({ id }) => id);
    const after =
      wanted.how === 'add'
        ? [...new Set([...current.assignee_ids, ...ids])]
        : current.assignee_ids.filter((id) => !ids.includes(id));
    if (after.length > MAX_ASSIGNEES) throw unacceptable(`[Assignees]: MaxSize(${MAX_ASSIGNEES})`);
    const told = await assign(
      tx,
      current,
      after.map((id) => ({ id })),
      caller.userId,
    );
    if (told.length > 0) await issues.touch(tx, current.id);
    const where = { kind: 'issue', issueId: current.id, repositoryId: current.repository_id } as const;
    await announce(tx, ...told.map((event) => ({ ...where, ...event, actorId: caller.userId })));
  });
}

/** Who can no longer be assigned can still be taken away. */
async function namedAccounts(
  context: Context,
  { repository, issue }: VisibleIssue,
  wanted: { how: 'add' | 'remove'; assignees: readonly string[] },
): Promise<{ id: number }[]> {
  const { assignee_ids: assigned } = issue;
  if (wanted.how === 'add')
    return (await resolveWishes(context, repository, wanted, { assigned })).assignees ?? [];
  const tx = context.database.autocommit();
  const named = {
    logins: wanted.assignees.slice(0, MAX_ASSIGNEES),
    labelIds: [],
    labelNames: [],
    milestoneId: 0,
  };
  const { users: known } = await issueWishes.find(tx, repository, named);
  for (const login of wanted.assignees) {
    if (!known.some((user) => user.login.toLowerCase() === login.toLowerCase())) {
      throw unacceptable(
        `Assignee does not exist: [name: user does not exist [uid: 0, name: ${login}, keyid: 0]]`,
      );
    }
  }
  return known;
}

/**
 * Whether somebody can be assigned to an issue.
 * @throws 404 when not
 */
export async function checkAssignable(
  context: Context,
  viewer: Caller | undefined,
  path: NumberedPath & { assignee: string },
): Promise<void> {
  const { repository } = await findIssue(context, viewer, path);
  const tx = context.database.autocommit();
  const named = { logins: [path.assignee], labelIds: [], labelNames: [], milestoneId: 0 };
  const { users: known } = await issueWishes.find(tx, repository, named);
  if (known[0]?.writes !== true) throw notFound();
}
