import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { viewerOf } from '../rules/access/permission.ts';
import * as repositoryTeams from '../store/repositories/repository-teams.ts';
import { teamJson, type teamSchema } from '../teams/team-json.ts';
import { findOfOrganization } from './find-of-organization.ts';

/**
 * Teams that reach a repository, as far as the caller may know of them.
 * @throws 404, 405 when the owner is a person
 */
export async function listTeamsOfRepository(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
): Promise<z.output<typeof teamSchema>[]> {
  const { owner, repository } = await findOfOrganization(context, caller, path);
  const teams = await repositoryTeams.list(context.database.autocommit(), repository.id, viewerOf(caller));
  return teams.map((team) => teamJson(team, owner, caller, context.links));
}

/**
 * One of them, by its name in whatever case.
 * @throws 404 also for a team that does not reach the repository, 405
 */
export async function showTeamOfRepository(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string; team: string },
): Promise<z.output<typeof teamSchema>> {
  const teams = await listTeamsOfRepository(context, caller, path);
  const team = teams.find(({ name }) => name.toLowerCase() === path.team.toLowerCase());
  if (team === undefined) throw notFound();
  return team;
}
