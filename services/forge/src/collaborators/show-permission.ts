import type { Caller } from '../caller/caller.ts';
import { callerOf } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound } from '../failures.ts';
import { accessTo, findRepository } from '../repositories/find-repository.ts';
import { includes, type Level } from '../rules/access/permission.ts';
import type { UserRow } from '../store/people/users.ts';
import * as users from '../store/people/users.ts';
import * as repositories from '../store/repositories/repositories.ts';

/**
 * What somebody may do with a repository; for its administrators, and for himself.
 * @throws 403, 404
 */
export async function showPermission(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string; collaborator: string },
): Promise<{ level: Level; user: UserRow }> {
  const found = await findRepository(context, caller, path);
  const isHimself = caller.user.login_key === path.collaborator.toLowerCase();
  if (!isHimself && !includes(found.permission.level, 'admin')) {
    throw forbidden(
      'Only admins can query all permissions, repo admins can query all repo permissions, collaborators can query only their own',
    );
  }
  const tx = context.database.autocommit();
  const user = await users.findByLogin(tx, path.collaborator);
  if (user?.kind !== 'person') throw notFound(`user does not exist [uid: 0, name: ${path.collaborator}]`);
  const [row] = await repositories.listByIds(tx, [found.repository.id], user.id);
  const seen = row && accessTo(row, callerOf(user));
  return { level: seen?.permission.level ?? 'none', user };
}
