import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound } from '../failures.ts';
import { checkOwner, findOrganization } from '../organizations/find-organization.ts';
import * as lostAccess from '../store/people/lost-access.ts';
import * as members from '../store/people/members.ts';
import * as organizations from '../store/people/organizations.ts';

/**
 * Takes somebody out of all teams of an organization; members may leave by themselves.
 * @throws 403 for the last owner
 */
export async function removeMember(
  context: Context,
  caller: Caller,
  path: { org: string; username: string },
): Promise<void> {
  const found = await findOrganization(context, caller, path.org);
  const leaves = path.username.toLowerCase() === caller.user.login_key;
  if (!leaves) checkOwner(found);
  const { id } = found.organization;
  await context.database.transaction(async (tx) => {
    // Two owners who remove each other at once: the second finds himself the last one.
    if (!(await organizations.lock(tx, id))) throw notFound();
    const membership = await members.find(tx, id, path.username);
    if (!membership?.isMember) throw notFound();
    if (membership.isOwner && (await members.countOwners(tx, id)) === 1) throw lastOwner();
    await members.remove(tx, id, membership.userId);
    await lostAccess.forget(tx, { userIds: [membership.userId], ownerId: id });
  });
}

/** An organization without owners could never get one again. */
export const lastOwner = () => forbidden('the last owner of an organization cannot leave it');
