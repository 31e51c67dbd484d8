import type { Failure } from '@croft/failure';
import type { Tx } from '@croft/sql';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, Moved, notFound, repositoryArchived } from '../failures.ts';
import { decidePermission, includes, type Permission, type Unit } from '../rules/access/permission.ts';
import type { UserRow } from '../store/people/users.ts';
import * as repositories from '../store/repositories/repositories.ts';

/** A repository the caller may see, and what else he may do with it. */
export interface VisibleRepository {
  repository: repositories.RepositoryRow;
  owner: UserRow;
  permission: Permission;
  /** Whether the caller is in the organization that owns it. */
  isMember: boolean;
}

/**
 * The repository a path names, for something that belongs to one of its units; without one, seeing any of it is enough.
 * @throws 404 when there is none, and when the caller may not know of it: the two must look the same; 307 when it has
 *   another name now
 */
export async function findRepository(
  { database }: Context,
  caller: Caller | undefined,
  path: { owner: string; repo: string },
  unit?: Unit,
): Promise<VisibleRepository> {
  const row = await repositories.findByName(database.reads(), path.owner, path.repo, caller?.userId ?? 0);
  const found = row && accessTo(row, caller);
  // Also when there is one that the caller may not know of: time must not tell the two apart.
  if (found === undefined) throw await explainMissing(database.autocommit(), caller, path);
  if (unit !== undefined && !mayRead(found, unit)) throw notFound();
  return found;
}

/** Leads on to a repository that had the name, if the caller may know of it. */
async function explainMissing(
  tx: Tx,
  caller: Caller | undefined,
  path: { owner: string; repo: string },
): Promise<Failure> {
  const row = await repositories.findByFormerName(tx, path.owner, path.repo, caller?.userId ?? 0);
  const found = row && accessTo(row, caller);
  if (found === undefined) return notFound();
  return new Moved([path.owner, path.repo], [found.owner.login, found.repository.name]);
}

/**
 * The repository with an id.
 * @throws 404 as for a path
 */
export async function findRepositoryById(
  { database }: Context,
  caller: Caller | undefined,
  id: number,
): Promise<VisibleRepository> {
  const [row] = await repositories.listByIds(database.autocommit(), [id], caller?.userId ?? 0);
  const found = row && accessTo(row, caller);
  if (found === undefined) throw notFound();
  return found;
}

/** What a caller may do with a repository; undefined when he may not know of it. */
export function accessTo(
  row: repositories.RepositoryWithAccess,
  caller: Caller | undefined,
): VisibleRepository | undefined {
  const { owner } = row;
  const { granted_level: level, granted_code: code, granted_issues: issues, granted_pulls: pulls } = row;
  const permission = decidePermission(
    {
      private: row.private,
      ownerVisibility: owner.visibility,
      granted:
        level === null ? undefined : { level, code: code ?? 0, issues: issues ?? 0, pulls: pulls ?? 0 },
      isMember: row.is_member,
    },
    caller,
  );
  const found = { repository: row, owner, permission, isMember: row.is_member };
  return permission.level === 'none' ? undefined : found;
}

/** Whether the unit is there, and for the caller to see. */
export function mayRead({ repository, permission }: VisibleRepository, unit: Unit): boolean {
  const isOn =
    unit === 'code' ||
    (unit === 'issues' && repository.has_issues) ||
    (unit === 'pulls' && repository.has_pulls);
  return isOn && includes(permission.units[unit], 'read');
}

/** Whether the caller may write to the code, or what only writers of issues or of pull requests may change. */
export const mayWrite = ({ permission }: VisibleRepository, unit: Unit) =>
  includes(permission.units[unit], 'write');

/** @throws 423 when the repository only serves reads */
export function checkNotArchived({ repository }: VisibleRepository): void {
  if (repository.archived) throw repositoryArchived();
}

/** @throws 403 */
export function checkAdmin({ permission }: VisibleRepository): void {
  if (!includes(permission.level, 'admin')) {
    throw forbidden('user should be an owner or a collaborator with admin write of a repository');
  }
}

/** @throws 403 */
export function checkOwner({ permission }: VisibleRepository): void {
  if (!includes(permission.level, 'owner')) throw forbidden('user should be the owner of the repo');
}
