import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import * as repositories from '../store/repositories.ts';
import { abandonRepository } from './create-repository.ts';
import { checkAdmin, findRepository } from './find-repository.ts';

/** Removes a repository with everything in it. */
export async function deleteRepository(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
): Promise<void> {
  const found = await findRepository(context, caller, path);
  checkAdmin(found);
  const { id } = found.repository;
  if (!(await repositories.beginRemoval(context.database.autocommit(), id))) throw notFound();
  await abandonRepository(context, id);
}
