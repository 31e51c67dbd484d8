import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden } from '../failures.ts';
import { checkOwner } from '../organizations/find-organization.ts';
import { OWNERS_LEVEL } from '../rules/access/team-access.ts';
import * as lostAccess from '../store/people/lost-access.ts';
import * as members from '../store/people/members.ts';
import * as teamMembers from '../store/people/team-members.ts';
import * as teams from '../store/people/teams.ts';
import { findTeam } from './find-team.ts';

/**
 * Removes a team; who is in no other leaves the organization.
 * @throws 403 for the owners' team
 */
export async function deleteTeam(context: Context, caller: Caller, id: string): Promise<void> {
  const found = await findTeam(context, caller, id);
  checkOwner(found);
  if (found.team.level === OWNERS_LEVEL) throw forbidden('the team of the owners cannot be removed');
  const { id: ownerId } = found.organization;
  await context.database.transaction(async (tx) => {
    const userIds = await teamMembers.listIds(tx, found.team.id);
    await teams.remove(tx, found.team.id);
    await members.hideFormer(tx, ownerId);
    await lostAccess.forget(tx, { userIds, ownerId });
  });
}
