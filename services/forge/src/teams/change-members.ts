import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { lastOwner } from '../members/remove-member.ts';
import { checkOwner } from '../organizations/find-organization.ts';
import { OWNERS_LEVEL } from '../rules/access/team-access.ts';
import * as lostAccess from '../store/people/lost-access.ts';
import * as members from '../store/people/members.ts';
import * as organizations from '../store/people/organizations.ts';
import * as teamMembers from '../store/people/team-members.ts';
import { findPerson } from '../users/find-user.ts';
import { findTeam } from './find-team.ts';

/** The path of a member of a team. */
interface MemberPath {
  id: string;
  username: string;
}

/** Puts somebody into a team, and so into its organization. */
export async function addTeamMember(context: Context, caller: Caller, path: MemberPath): Promise<void> {
  const found = await findTeam(context, caller, path.id);
  checkOwner(found);
  const person = await findPerson(context, path.username);
  await teamMembers.add(context.database.autocommit(), found.team.id, person.id);
}

/**
 * Takes somebody out of a team; who is in no other leaves the organization. Members may leave by themselves.
 * @throws 403 for the last owner
 */
export async function removeTeamMember(context: Context, caller: Caller, path: MemberPath): Promise<void> {
  const { team, organization, isOwner } = await findTeam(context, caller, path.id);
  if (path.username.toLowerCase() !== caller.user.login_key) checkOwner({ isOwner });
  await context.database.transaction(async (tx) => {
    // Two owners who remove each other at once: the second finds himself the last one.
    if (!(await organizations.lock(tx, organization.id))) throw notFound();
    const member = await teamMembers.find(tx, team.id, path.username);
    if (member === undefined) throw notFound();
    if (team.level === OWNERS_LEVEL && (await members.countOwners(tx, organization.id)) === 1)
      throw lastOwner();
    await teamMembers.remove(tx, team.id, member.id);
    await members.hideFormer(tx, organization.id);
    await lostAccess.forget(tx, { userIds: [member.id], ownerId: organization.id });
  });
}
