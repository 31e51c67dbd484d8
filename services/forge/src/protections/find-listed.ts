import type { Context } from '../context.ts';
import { unacceptable } from '../failures.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import * as users from '../store/people/users.ts';
import * as repositories from '../store/repositories/repositories.ts';
import * as repositoryTeams from '../store/repositories/repository-teams.ts';

const MAX_LISTED = 100;

/**
 * Ids of the people that a request lists, each once; undefined where it says nothing of them.
 * @throws 422 for somebody nobody knows or who may not write to the repository, and for more than make sense
 */
export async function findPeople(
  { database }: Context,
  { repository }: VisibleRepository,
  logins: readonly string[] | null | undefined,
): Promise<number[] | undefined> {
  if (logins === undefined || logins === null) return undefined;
  if (logins.length > MAX_LISTED) throw unacceptable(`[Usernames]: MaxSize(${MAX_LISTED})`);
  const tx = database.autocommit();
  const ids = new Set<number>();
  for (const login of logins) {
    const user = await users.findByLogin(tx, login);
    if (user?.kind !== 'person') throw unacceptable(`user does not exist [uid: 0, name: ${login}]`);
    if (!user.is_admin && !(await repositories.maySomeoneWrite(tx, repository.id, user.id)))
      throw unacceptable(
        `user doesn't have access to repo [user_id: ${user.id}, repo_name: ${repository.name}]`,
      );
    ids.add(user.id);
  }
  return [...ids];
}

/**
 * Ids of the teams of the repository's owner that a request lists, each once; undefined where it says nothing of them.
 * @throws 422 for a team that there is not, and for more than make sense
 */
export async function findTeams(
  { database }: Context,
  { owner }: VisibleRepository,
  names: readonly string[] | null | undefined,
): Promise<number[] | undefined> {
  if (names === undefined || names === null) return undefined;
  if (names.length > MAX_LISTED) throw unacceptable(`[Teams]: MaxSize(${MAX_LISTED})`);
  const ids = new Set<number>();
  for (const name of names) {
    const team = await repositoryTeams.findByName(database.autocommit(), owner.id, name);
    if (team === undefined) throw unacceptable(`team does not exist [org_id ${owner.id}, name: ${name}]`);
    ids.add(team.id);
  }
  return [...ids];
}
