import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound, repositoryArchived } from '../failures.ts';
import { decidePermission, includes, type Permission } from '../rules/permission.ts';
import * as repositories from '../store/repositories.ts';

/** A repository the caller may see, and what else he may do with it. */
export interface VisibleRepository {
  repository: repositories.RepositoryRow;
  permission: Permission;
}

/**
 * The repository a path names.
 * @throws 404 when there is none, and when the caller may not know of it: the two must look the same
 */
export async function findRepository(
  { database }: Context,
  caller: Caller | undefined,
  path: { owner: string; repo: string },
): Promise<VisibleRepository> {
  const repository = await repositories.findByName(database.autocommit(), path.owner, path.repo);
  if (repository === undefined) throw notFound();
  const permission = decidePermission({ ownerId: repository.owner_id, private: repository.private }, caller);
  if (permission === 'none') throw notFound();
  return { repository, permission };
}

/** Whether the caller may write: to the code, and to what only writers of issues and pull requests may change. */
export const mayWrite = ({ permission }: VisibleRepository) => includes(permission, 'write');

/** @throws 423 when the repository only serves reads */
export function checkNotArchived({ repository }: VisibleRepository): void {
  if (repository.archived) throw repositoryArchived();
}

/** @throws 403 */
export function checkAdmin({ permission }: VisibleRepository): void {
  if (!includes(permission, 'admin')) {
    throw forbidden('user should be an owner or a collaborator with admin write of a repository');
  }
}
