import { Failure } from '@croft/failure';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { findRepository, type VisibleRepository } from '../repositories/find-repository.ts';

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
