import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { showPull, type singlePullSchema } from '../pulls/show-pull.ts';
import { findRepository, mayRead } from '../repositories/find-repository.ts';
import * as mergedPulls from '../store/pulls/merged-pulls.ts';
import { resolveCommit } from './resolve-commit.ts';

/**
 * The pull request whose merge made a commit.
 * @throws 404 also for a commit that no merge made
 */
export async function showMergedPull(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string; sha: string },
): Promise<z.output<typeof singlePullSchema>> {
  const found = await findRepository(context, viewer, path, 'pulls');
  if (!mayRead(found, 'code')) throw notFound();
  const { commit } = await resolveCommit(context, found, path.sha);
  const number = await mergedPulls.findNumber(context.database.autocommit(), found.repository.id, commit);
  if (number === undefined) throw notFound('no pull request was merged by this commit');
  return await showPull(context, viewer, { ...path, index: String(number) });
}
