import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound } from '../failures.ts';
import { findRepository, type VisibleRepository } from '../repositories/find-repository.ts';
import { includes } from '../rules/access/permission.ts';
import * as lostAccess from '../store/people/lost-access.ts';
import * as teamRepositories from '../store/people/team-repositories.ts';
import { findTeam, type VisibleTeam } from './find-team.ts';

/** The path of a repository of a team. */
export interface TeamRepositoryPath {
  id: string;
  org: string;
  repo: string;
}

/**
 * A repository of a team's organization that the caller may see.
 * @throws 404 also for repositories of others: a team never reaches them
 */
async function findBoth(
  context: Context,
  caller: Caller,
  path: TeamRepositoryPath,
): Promise<VisibleTeam & { found: VisibleRepository }> {
  const team = await findTeam(context, caller, path.id);
  const found = await findRepository(context, caller, { owner: path.org, repo: path.repo });
  if (found.owner.id !== team.organization.id) throw notFound();
  return { ...team, found };
}

/** Owners decide about all teams, administrators of a repository about the teams they are in. */
function checkMayChange({ isOwner, found }: { isOwner: boolean; found: VisibleRepository }): void {
  if (!isOwner && !includes(found.permission.level, 'admin')) {
    throw forbidden('Must have admin-level access to the repository');
  }
}

/** @throws 404 unless the team reaches the repository */
export async function findTeamRepository(
  context: Context,
  caller: Caller,
  path: TeamRepositoryPath,
): Promise<VisibleRepository> {
  const { team, found } = await findBoth(context, caller, path);
  if (!(await teamRepositories.reaches(context.database.autocommit(), team.id, found.repository.id))) {
    throw notFound();
  }
  return found;
}

/** Gives a team a repository of its organization. */
export async function addTeamRepository(
  context: Context,
  caller: Caller,
  path: TeamRepositoryPath,
): Promise<void> {
  const both = await findBoth(context, caller, path);
  checkMayChange(both);
  await teamRepositories.add(context.database.autocommit(), both.team.id, both.found.repository.id);
}

/** Takes a repository from a team; one that reaches all of them keeps it. */
export async function removeTeamRepository(
  context: Context,
  caller: Caller,
  path: TeamRepositoryPath,
): Promise<void> {
  const both = await findBoth(context, caller, path);
  checkMayChange(both);
  const { id: repositoryId } = both.found.repository;
  await context.database.transaction(async (tx) => {
    if (!(await teamRepositories.remove(tx, both.team.id, repositoryId))) throw notFound();
    await lostAccess.forget(tx, { repositoryId });
  });
}
