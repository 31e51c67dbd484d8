import { isUniqueViolation } from '@croft/sql';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound, unacceptable } from '../failures.ts';
import { checkOwner } from '../organizations/find-organization.ts';
import { OWNERS_LEVEL, readTeamAccess, type WantedTeamAccess } from '../rules/access/team-access.ts';
import { checkTeamTexts } from '../rules/access/team-name.ts';
import * as lostAccess from '../store/people/lost-access.ts';
import * as teamMembers from '../store/people/team-members.ts';
import * as teams from '../store/people/teams.ts';
import type { UserRow } from '../store/people/users.ts';
import { teamExists } from './create-team.ts';
import { findTeam } from './find-team.ts';

/** What an owner wants to be different; what is absent stays. */
export interface TeamEdit extends WantedTeamAccess {
  name?: string | undefined;
  description?: string | undefined;
  includesAllRepositories?: boolean | undefined;
  canCreateRepositories?: boolean | undefined;
  visibility?: teams.TeamVisibility | undefined;
}

/**
 * Changes a team. The owners' team keeps its name and what it gives.
 * @throws 403, 404, 422
 */
export async function editTeam(
  context: Context,
  caller: Caller,
  id: string,
  edit: TeamEdit,
): Promise<{ team: teams.TeamRow; organization: UserRow }> {
  const found = await findTeam(context, caller, id);
  checkOwner(found);
  const { id: teamId } = found.team;
  const { organization } = found;
  try {
    const team = await context.database.transaction(async (tx) => {
      // Held from here on: another edit at the same time changes what this one leaves.
      const before = await teams.lockById(tx, teamId);
      if (before === undefined) throw notFound();
      const after = await teams.update(tx, teamId, fieldsAfter(before, edit));
      if (givesLess(edit))
        await lostAccess.forget(tx, {
          userIds: await teamMembers.listIds(tx, teamId),
          ownerId: organization.id,
        });
      return after;
    });
    if (team === undefined) throw notFound();
    return { team, organization };
  } catch (error) {
    if (isUniqueViolation(error, 'teams_name_key_key')) throw teamExists(organization.id, edit.name ?? '');
    throw error;
  }
}

/** @throws 422 */
function fieldsAfter(before: teams.TeamRow, edit: TeamEdit): teams.TeamFields {
  const isOwners = before.level === OWNERS_LEVEL;
  if (isOwners) checkOwnersTeam(before, edit);
  const fields = {
    name: edit.name || before.name,
    description: edit.description ?? before.description,
    access: isOwners ? before : readTeamAccess(edit, before),
    includesAllRepositories: edit.includesAllRepositories ?? before.includes_all_repositories,
    canCreateRepositories: edit.canCreateRepositories ?? before.can_create_repositories,
    visibility: edit.visibility ?? before.visibility,
  };
  checkTeamTexts(fields);
  return fields;
}

/** Whether the members of the team may reach less than before, as far as the request tells. */
const givesLess = ({ permission, units, unitsMap, includesAllRepositories }: TeamEdit) =>
  Boolean(permission || units || unitsMap) || includesAllRepositories === false;

/** Clients send back what they read; only what would be different is refused. */
function checkOwnersTeam(before: teams.TeamRow, edit: TeamEdit): void {
  const differs =
    (edit.name || before.name) !== before.name ||
    (edit.permission || 'owner') !== 'owner' ||
    edit.includesAllRepositories === false ||
    edit.canCreateRepositories === false;
  if (differs) throw unacceptable('the team of the owners keeps its name and its permissions');
}
