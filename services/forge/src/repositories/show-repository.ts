import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import * as users from '../store/users.ts';
import { findRepository } from './find-repository.ts';
import { repositoryJson, type repositorySchema } from './repository-json.ts';

/** A repository as its viewer gets it. */
export async function showRepository(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string },
): Promise<z.output<typeof repositorySchema>> {
  const { repository } = await findRepository(context, viewer, path);
  const owner = await users.getById(context.database.autocommit(), repository.owner_id);
  return repositoryJson(repository, owner, viewer, context.links);
}
