import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, Moved, notFound } from '../failures.ts';
import { viewerOf } from '../rules/access/permission.ts';
import { OWNERS_LEVEL } from '../rules/access/team-access.ts';
import * as formerLogins from '../store/people/former-logins.ts';
import * as organizations from '../store/people/organizations.ts';
import type { UserRow } from '../store/people/users.ts';

/** An organization the caller may know of, and what he may do with it; site administrators are in all of them. */
export interface VisibleOrganization {
  organization: UserRow;
  isMember: boolean;
  isOwner: boolean;
  /** Whether he may make repositories in it. */
  creates: boolean;
}

/**
 * The organization a path names.
 * @throws 404 when there is none, and when the caller may not know of it: the two must look the same; 307 when it has
 *   another name now
 */
export async function findOrganization(
  { database }: Context,
  caller: Caller | undefined,
  name: string,
): Promise<VisibleOrganization> {
  const viewer = viewerOf(caller);
  const tx = database.autocommit();
  const row = await organizations.findVisible(tx, name, viewer);
  if (row === undefined) {
    const moved = await formerLogins.findOwner(tx, name, viewer);
    throw moved?.kind === 'organization' ? new Moved([name], [moved.login]) : notFound();
  }
  const { role, creates, ...organization } = row;
  return {
    organization,
    isMember: role !== null || viewer.seesAll,
    isOwner: (role ?? 0) >= OWNERS_LEVEL || viewer.seesAll,
    creates: creates === true || viewer.seesAll,
  };
}

/** @throws 403 */
export function checkOwner({ isOwner }: { isOwner: boolean }): void {
  if (!isOwner) throw forbidden('Must be an organization owner');
}

/** @throws 403 */
export function checkMember({ isMember }: { isMember: boolean }): void {
  if (!isMember) throw forbidden('Must be an organization member');
}
