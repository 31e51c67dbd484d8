import type { Context } from '../context.ts';
import * as issueAssignees from '../store/issue-assignees.ts';
import * as users from '../store/users.ts';

/** The accounts that stand around some issues of one repository. */
export interface People {
  owner: users.UserRow;
  byId(id: number): users.UserRow;
  assigneesOf(issueId: number): users.UserRow[];
}

/** Loads the accounts that answers about the given issues name: two statements, however many issues. */
export async function loadPeople(
  { database }: Context,
  repository: { owner_id: number },
  issues: readonly { issueId: number; people: readonly number[] }[],
): Promise<People> {
  const tx = database.autocommit();
  const assignees = await issueAssignees.mapByIssues(
    tx,
    issues.map(({ issueId }) => issueId),
  );
  const ids = [
    repository.owner_id,
    ...issues.flatMap(({ people }) => people),
    ...[...assignees.values()].flat(),
  ];
  const accounts = await users.mapByIds(tx, [...new Set(ids)]);
  function byId(id: number): users.UserRow {
    const account = accounts.get(id);
    if (account === undefined) throw new Error(`account ${id} is missing`);
    return account;
  }
  return {
    owner: byId(repository.owner_id),
    byId,
    assigneesOf: (issueId) => (assignees.get(issueId) ?? []).map(byId),
  };
}
