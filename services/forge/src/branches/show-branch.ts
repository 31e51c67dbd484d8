import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
import type { branchSchema } from './branch-json.ts';
import { presentBranches } from './present-branches.ts';

/** A branch as its viewer gets it. */
export async function showBranch(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string; branch: string },
): Promise<z.output<typeof branchSchema>> {
  const found = await findRepository(context, viewer, path, 'code');
  const { branch } = path;
  const commit = isBranchName(branch)
    ? await readRef(context.git, found.repository.id, branchRef(branch))
    : undefined;
  if (commit === undefined) throw notFound('the branch does not exist');
  const [shown] = await presentBranches(context, viewer, found, [{ name: branch, commit }]);
  if (shown === undefined) throw notFound('the branch does not exist');
  return shown;
}
