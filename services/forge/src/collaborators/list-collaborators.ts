import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { LEVELS } from '../rules/access/permission.ts';
import * as collaborators from '../store/people/collaborators.ts';
import type { UserRow } from '../store/people/users.ts';
import { userJson } from '../users/user-json.ts';
import { findSubject } from './find-subject.ts';

interface RepositoryPath {
  owner: string;
  repo: string;
}

/** A page of the people that a repository was opened to. */
export async function listCollaborators(
  context: Context,
  caller: Caller,
  path: RepositoryPath,
  query: { page?: string | undefined; limit?: string | undefined },
): Promise<ListPage> {
  const { repository } = await findRepository(context, caller, path);
  const page = pageOf(context, query);
  const found = await collaborators.list(context.database.autocommit(), repository.id, page);
  return {
    page,
    total: found.total,
    items: found.users.map((user) => userJson(user, caller, context.links)),
  };
}

/**
 * Whether a repository was opened to somebody.
 * @throws 404, 422 for nobody
 */
export async function isCollaborator(
  context: Context,
  caller: Caller,
  path: RepositoryPath & { collaborator: string },
): Promise<boolean> {
  const { repository } = await findRepository(context, caller, path);
  const subject = await findSubject(context, path.collaborator);
  return await collaborators.exists(context.database.autocommit(), repository.id, subject.id);
}

/** People who were given at least a level: writers can be assigned to issues, readers asked for reviews. */
export async function listReaching(
  context: Context,
  caller: Caller | undefined,
  path: RepositoryPath,
  level: 'read' | 'write',
): Promise<UserRow[]> {
  const { repository } = await findRepository(context, caller, path);
  return await collaborators.listReaching(
    context.database.autocommit(),
    repository.id,
    LEVELS.indexOf(level),
  );
}
