import { callerOf } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { unacceptable } from '../failures.ts';
import { decidePermission, includes } from '../rules/permission.ts';
import type { RepositoryRow } from '../store/repositories.ts';
import * as users from '../store/users.ts';

/** More on one issue is nobody's responsibility. */
const MAX_ASSIGNEES = 50;

/** The two ways in which requests name assignees. */
export interface NamedAssignees {
  assignee?: string | null | undefined;
  assignees?: readonly string[] | null | undefined;
}

/**
 * The accounts that are to be assigned, in their order; undefined when the request says nothing of assignees.
 * @throws 422 for a name nobody has, and for somebody who cannot write to the repository
 */
export async function resolveAssignees(
  { database }: Context,
  repository: RepositoryRow,
  named: NamedAssignees,
): Promise<number[] | undefined> {
  if (!named.assignee && (named.assignees === undefined || named.assignees === null)) return undefined;
  const names = new Set([named.assignee ?? '', ...(named.assignees ?? [])].filter((name) => name !== ''));
  if (names.size > MAX_ASSIGNEES) throw unacceptable(`[Assignees]: MaxSize(${MAX_ASSIGNEES})`);
  const ids: number[] = [];
  for (const name of names) {
    const user = await users.findByLogin(database.autocommit(), name);
    if (user === undefined) {
      throw unacceptable(
        `Assignee does not exist: [name: user does not exist [uid: 0, name: ${name}, keyid: 0]]`,
      );
    }
    const permission = decidePermission(
      { ownerId: repository.owner_id, private: repository.private },
      callerOf(user),
    );
    if (!includes(permission, 'write')) {
      throw unacceptable(
        `user doesn't have access to repo [user_id: ${user.id}, repo_name: ${repository.name}]`,
      );
    }
    if (!ids.includes(user.id)) ids.push(user.id);
  }
  return ids;
}
