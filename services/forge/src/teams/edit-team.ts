import { isUniqueViolation } from '@croft/sql';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound, unacceptable } from '../failures.ts';
import { checkOwner } from '../organizations/find-organization.ts';
import { OWNERS_LEVEL, readTeamAccess, type WantedTeamAccess } from '../rules/access/team-access.ts';
import { checkTeamTexts } from '../rules/access/team-name.ts';
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
  const { team: before, organization } = found;
  if (before.level === OWNERS_LEVEL) checkOwnersTeam(before, edit);
  const fields = {
    name: edit.name || before.name,
    description: edit.description ?? before.description,
    access: before.level === OWNERS_LEVEL ? before : readTeamAccess(edit, before),
    includesAllRepositories: edit.includesAllRepositories ?? before.includes_all_repositories,
    canCreateRepositories: edit.canCreateRepositories ?? before.can_create_repositories,
    visibility: edit.visibility ?? before.visibility,
  };
  checkTeamTexts(fields);
  try {
    const team = await teams.update(context.database.autocommit(), before.id, fields);
    if (team === undefined) throw notFound();
    return { team, organization };
  } catch (error) {
    if (isUniqueViolation(error, 'teams_name_key_key')) throw teamExists(organization.id, fields.name);
    throw error;
  }
}

/** Clients send back what they read; only what would be different is refused. */
function checkOwnersTeam(before: teams.TeamRow, edit: TeamEdit): void {
  const differs =
    (edit.name || before.name) !== before.name ||
    (edit.permission || 'owner') !== 'owner' ||
    edit.includesAllRepositories === false ||
    edit.canCreateRepositories === false;
  if (differs) throw unacceptable('the team of the owners keeps its name and its permissions');
}
