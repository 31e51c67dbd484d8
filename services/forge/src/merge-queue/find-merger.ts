import { type Caller, callerOf } from '../caller/caller.ts';
import { checkAccount } from '../caller/check-account.ts';
import type { Context } from '../context.ts';
import { mayNotMerge } from '../failures.ts';
import { checkMergeIsPossible, checkMerger, type PullToMerge } from '../pulls/check-merger.ts';
import {
  checkNotArchived,
  findRepositoryById,
  type VisibleRepository,
} from '../repositories/find-repository.ts';
import * as users from '../store/people/users.ts';
import type { QueueEntry } from '../store/pulls/merge-queue.ts';

/** Somebody who queued something, with the repository as he sees it. */
interface Queuer {
  caller: Caller;
  repository: VisibleRepository;
}

/** In whose name something is merged, and what, as he sees it. */
export interface Merger {
  caller: Caller;
  found: PullToMerge;
}

/**
 * Who queued pull requests into one branch, as long as they may still merge into it; everybody is looked up once.
 * @throws 403, 404, 405, 423 when he may not any more, and when nobody may
 */
export function mergersOf(context: Context): (entry: QueueEntry) => Promise<Merger> {
  const known = new Map<number, Promise<Queuer>>();
  return async (entry) => {
    const { pull } = entry;
    const asked = known.get(entry.row.queued_by) ?? findAllowed(context, entry);
    known.set(entry.row.queued_by, asked);
    const { caller, repository } = await asked;
    const found = { ...repository, pull };
    checkMergeIsPossible(found);
    return { caller, found };
  };
}

async function findAllowed(context: Context, { row, pull }: QueueEntry): Promise<Queuer> {
  const queuer = await findQueuer(context, row.queued_by, row.repository_id);
  await checkMerger(context, queuer.caller, { ...queuer.repository, pull });
  return queuer;
}

/**
 * Somebody with the rights he has now.
 * @throws 403, 404, 405, 423
 */
export async function findQueuer(context: Context, userId: number, repositoryId: number): Promise<Queuer> {
  const user = (await users.mapByIds(context.database.autocommit(), [userId])).get(userId);
  if (user === undefined) throw mayNotMerge();
  const caller = callerOf(await checkAccount(context, user));
  const repository = await findRepositoryById(context, caller, repositoryId);
  checkNotArchived(repository);
  return { caller, repository };
}
