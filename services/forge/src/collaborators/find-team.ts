import { Failure } from '@croft/failure';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, unacceptable } from '../failures.ts';
import { findOrganization } from '../organizations/find-organization.ts';
import { checkAdmin, findRepository, type VisibleRepository } from '../repositories/find-repository.ts';
import * as teamRepositories from '../store/people/team-repositories.ts';
import type { TeamRow } from '../store/people/teams.ts';
import type { RepositoryRow } from '../store/repositories/repositories.ts';
import * as repositoryTeams from '../store/repositories/repository-teams.ts';

/**
 * A repository whose owner has teams.
 * @throws 404, 405 when the owner is a person
 */
export async function findOfOrganization(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
): Promise<VisibleRepository> {
  const found = await findRepository(context, caller, path);
  if (found.owner.kind !== 'organization')
    throw new Failure('not-allowed', 'no_organization', 'repo is not owned by an organization');
  return found;
}

/**
 * A team that is given a repository or loses it: for owners of the organization, and for administrators of the
 * repository if the organization says so.
 * @throws 403, 404, 405, 422 for a team nobody has
 */
export async function findTeamToChange(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string; team: string },
): Promise<{ repository: RepositoryRow; team: TeamRow; reaches: boolean }> {
  const found = await findOfOrganization(context, caller, path);
  checkAdmin(found);
  const { isOwner } = await findOrganization(context, caller, found.owner.login);
  if (!isOwner && !found.owner.repository_admins_manage_teams)
    throw forbidden('Must be an organization owner');
  const tx = context.database.autocommit();
  const team = await repositoryTeams.findByName(tx, found.owner.id, path.team);
  if (team === undefined) throw unacceptable(`team '${path.team}' does not exist`);
  const reaches = await teamRepositories.reaches(tx, team.id, found.repository.id);
  return { repository: found.repository, team, reaches };
}
