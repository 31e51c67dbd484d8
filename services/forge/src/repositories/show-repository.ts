import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { readId } from '../rules/requests/read-id.ts';
import { findRepository, findRepositoryById } from './find-repository.ts';
import { presentRepository } from './present-repositories.ts';
import type { repositorySchema } from './repository-json.ts';

/** A repository as its viewer gets it. */
export async function showRepository(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string },
): Promise<z.output<typeof repositorySchema>> {
  return await presentRepository(context, viewer, await findRepository(context, viewer, path));
}

/**
 * The same by its id, which outlives its names.
 * @throws 404 also for an id that is no number
 */
export async function showRepositoryById(
  context: Context,
  viewer: Caller | undefined,
  id: string,
): Promise<z.output<typeof repositorySchema>> {
  return await presentRepository(context, viewer, await findRepositoryById(context, viewer, readId(id)));
}
