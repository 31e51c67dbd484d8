import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { unacceptable } from '../failures.ts';
import { checkOwner, findOrganization } from '../organizations/find-organization.ts';
import { readTeamAccess, type WantedTeamAccess } from '../rules/access/team-access.ts';
import { checkTeamTexts } from '../rules/access/team-name.ts';
import * as teams from '../store/people/teams.ts';
import type { UserRow } from '../store/people/users.ts';

/** What an owner decides about a new team. */
export interface NewTeam extends WantedTeamAccess {
  name: string;
  description: string;
  includesAllRepositories: boolean;
  canCreateRepositories: boolean;
  visibility: teams.TeamVisibility;
}

/**
 * Makes a team without members.
 * @throws 403, 422
 */
export async function createTeam(
  context: Context,
  caller: Caller,
  org: string,
  wanted: NewTeam,
): Promise<{ team: teams.TeamRow; organization: UserRow }> {
  const found = await findOrganization(context, caller, org);
  checkOwner(found);
  checkTeamTexts(wanted);
  const { organization } = found;
  const fields = { ...wanted, access: readTeamAccess(wanted) };
  const team = await teams.insert(context.database.autocommit(), organization.id, fields);
  if (team === undefined) throw teamExists(organization.id, wanted.name);
  return { team, organization };
}

/** The organization has a team of this name. */
export const teamExists = (organizationId: number, name: string) =>
  unacceptable(`team already exists [org_id: ${organizationId}, name: ${name}]`);
