import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { unacceptable } from '../failures.ts';
import { checkAdmin, findRepository } from '../repositories/find-repository.ts';
import { LEVELS } from '../rules/access/permission.ts';
import * as collaborators from '../store/people/collaborators.ts';
import * as lostAccess from '../store/people/lost-access.ts';
import { findSubject } from './find-subject.ts';

const GIVEN = ['read', 'write', 'admin'] as const;

/**
 * Opens a repository to somebody, or changes how far.
 * @throws 403, 404, 422 for nobody, for the owner and for a permission nobody has
 */
export async function putCollaborator(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string; collaborator: string },
  permission: string,
): Promise<void> {
  const found = await findRepository(context, caller, path);
  checkAdmin(found);
  const subject = await findSubject(context, path.collaborator);
  const given = GIVEN.find((known) => known === permission);
  if (given === undefined) throw unacceptable(`[Permission]: In(${GIVEN.join(',')})`);
  if (subject.id === found.owner.id) throw unacceptable('the owner cannot be a collaborator');
  const level = LEVELS.indexOf(given);
  await collaborators.put(context.database.autocommit(), found.repository.id, subject.id, level);
}

/**
 * Closes a repository to somebody; he may also leave by himself.
 * @throws 403, 404, 422 for nobody
 */
export async function removeCollaborator(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string; collaborator: string },
): Promise<void> {
  const found = await findRepository(context, caller, path);
  const subject = await findSubject(context, path.collaborator);
  if (subject.id !== caller.userId) checkAdmin(found);
  const { id: repositoryId } = found.repository;
  await context.database.transaction(async (tx) => {
    await collaborators.remove(tx, repositoryId, subject.id);
    await lostAccess.forget(tx, { userIds: [subject.id], repositoryId });
  });
}
