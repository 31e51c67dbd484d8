import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { checkAdmin, checkNotArchived, findRepository } from '../repositories/find-repository.ts';
import { readTopics } from '../rules/repositories/topics.ts';
import * as topics from '../store/repositories/topics.ts';

/**
 * Files a repository under other topics.
 * @param change makes the new list of the one there is, as a whole
 * @throws 403, 404, 422, 423
 */
export async function changeTopics(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
  change: (now: readonly string[]) => readonly string[],
): Promise<void> {
  const found = await findRepository(context, caller, path);
  checkAdmin(found);
  checkNotArchived(found);
  const { id } = found.repository;
  await context.database.transaction(async (tx) => {
    const now = await topics.lock(tx, id);
    if (now === undefined) throw notFound();
    await topics.replace(tx, id, readTopics(change(now)));
  });
}
