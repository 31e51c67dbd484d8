import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { announce } from '../events/announce.ts';
import { notFound } from '../failures.ts';
import * as repositories from '../store/repositories/repositories.ts';
import { abandonRepository, by } from './create-repository.ts';
import { checkOwner, findRepository } from './find-repository.ts';
import { presentRepository } from './present-repositories.ts';

/**
 * Removes a repository with everything in it.
 * @throws 403 for everybody but owners, 404
 */
export async function deleteRepository(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
): Promise<void> {
  const found = await findRepository(context, caller, path);
  checkOwner(found);
  const { id } = found.repository;
  // What is announced is told when the row is gone.
  const repository = await presentRepository(context, undefined, found);
  const deleted = { ownerId: found.owner.id, repository };
  await context.database.transaction(async (tx) => {
    if (!(await repositories.beginRemoval(tx, id))) throw notFound();
    await announce(tx, { kind: 'repository', action: 'deleted', deleted, ...by(found.repository, caller) });
  });
  await abandonRepository(context, id, caller.userId);
}
