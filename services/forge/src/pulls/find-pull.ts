import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { findRepository, type VisibleRepository } from '../repositories/find-repository.ts';
import { readIndex } from '../rules/requests/read-id.ts';
import * as pulls from '../store/pulls/pulls.ts';

/** A pull request the caller may see, with its repository. */
export interface VisiblePull extends VisibleRepository {
  pull: pulls.PullCard;
}

/**
 * The pull request a path names.
 * @throws 404, also for the number of an issue
 */
export async function findPull(
  context: Context,
  caller: Caller | undefined,
  path: NumberedPath,
): Promise<VisiblePull> {
  const found = await findRepository(context, caller, path, 'pulls');
  const tx = context.database.autocommit();
  const pull = await pulls.findByNumber(tx, found.repository.id, readIndex(path.index));
  if (pull === undefined) throw notFound();
  return { ...found, pull };
}
