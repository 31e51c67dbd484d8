import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { splitHead } from '../rules/git/comparison.ts';
import * as pullLists from '../store/pulls/pull-lists.ts';
import { showPull, type singlePullSchema } from './show-pull.ts';

/**
 * The newest pull request between two branches, open or not; the head `branch`, `owner:branch` or `owner/repo:branch`.
 * @throws 404 also for a head in a repository that the viewer may not know of
 */
export async function showPullBetween(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string; base: string; head: string },
): Promise<z.output<typeof singlePullSchema>> {
  const { repository } = await findRepository(context, viewer, path, 'pulls');
  const { owner, repo, name: headBranch } = splitHead(path.head);
  const branches = { repositoryId: repository.id, baseBranch: path.base, owner, repo, headBranch };
  const number = await pullLists.findNewest(context.database.autocommit(), branches);
  if (number === undefined) throw notFound();
  const pull = await showPull(context, viewer, { ...path, index: String(number) });
  if (owner !== undefined && pull.head.repo === null) throw notFound();
  return pull;
}
