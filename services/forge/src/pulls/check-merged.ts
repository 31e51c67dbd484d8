import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { findPull } from './find-pull.ts';

/** @throws 404 for a pull request that is not merged */
export async function checkMerged(
  context: Context,
  viewer: Caller | undefined,
  path: NumberedPath,
): Promise<void> {
  const { pull } = await findPull(context, viewer, path);
  if (pull.merged_at === null) throw notFound();
}
