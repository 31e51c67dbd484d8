import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { readLicenses } from './read-licenses.ts';

/** SPDX ids of the licenses whose texts are in the root of the default branch. */
export async function showLicenses(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string },
): Promise<string[]> {
  const { git } = context;
  const { repository } = await findRepository(context, viewer, path, 'code');
  const commit = await readRef(git, repository.id, branchRef(repository.default_branch));
  return commit === undefined ? [] : await readLicenses(git, repository.id, commit);
}
