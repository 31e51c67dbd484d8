import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, unacceptable } from '../failures.ts';
import { findOrganization } from '../organizations/find-organization.ts';
import { checkAdmin } from '../repositories/find-repository.ts';
import * as lostAccess from '../store/people/lost-access.ts';
import * as teamRepositories from '../store/people/team-repositories.ts';
import type { TeamRow } from '../store/people/teams.ts';
import type { RepositoryRow } from '../store/repositories/repositories.ts';
import * as repositoryTeams from '../store/repositories/repository-teams.ts';
import { findOfOrganization } from './find-of-organization.ts';

/** A team of the owner of a repository. */
interface TeamPath {
  owner: string;
  repo: string;
  team: string;
}

/**
 * Gives a repository to a team.
 * @throws 403, 404, 405, 422 for a team nobody has and for one that reaches it already
 */
export async function giveToTeam(context: Context, caller: Caller, path: TeamPath): Promise<void> {
  const { repository, team, reaches } = await findTeamToChange(context, caller, path);
  if (reaches) throw unacceptable(`team '${team.name}' is already added to repo`);
  await teamRepositories.add(context.database.autocommit(), team.id, repository.id);
}

/**
 * Takes a repository from a team.
 * @throws 403, 404, 405, 422 for a team nobody has and for one that it was not given to
 */
export async function takeFromTeam(context: Context, caller: Caller, path: TeamPath): Promise<void> {
  const { repository, team } = await findTeamToChange(context, caller, path);
  await context.database.transaction(async (tx) => {
    if (!(await teamRepositories.remove(tx, team.id, repository.id)))
      throw unacceptable(`team '${team.name}' was not added to repo`);
    await lostAccess.forget(tx, { repositoryId: repository.id });
  });
}

/**
 * A team that is given a repository or loses it: for owners of the organization, and for administrators of the
 * repository if the organization says so.
 * @throws 403, 404, 405, 422 for a team nobody has
 */
async function findTeamToChange(
  context: Context,
  caller: Caller,
  path: TeamPath,
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
