import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { baseMoved } from '../failures.ts';
import { branchRef, moveRefs, pullRef } from '../outside/git/refs.ts';
import * as merges from '../store/pulls/merges.ts';
import type { PullWithIssue } from '../store/pulls/pulls.ts';
import * as pulls from '../store/pulls/pulls.ts';
import * as pushes from '../store/repositories/pushes.ts';
import { recordMerge, settleMergeOf } from './settle-merges.ts';

/** A merge that is on no branch yet. */
export interface Landing {
  pull: PullWithIssue;
  intent: merges.MergeIntent;
}

/**
 * Merges pull requests into one branch, each standing on the one before: intents, one compare-and-swap, records in their
 * order. All of them or none. For whoever has the queue of branches.
 * @param landings at least one; all name the same branch
 * @param written settles when their commits are on the disk
 * @returns reminders of the open pull requests that have that branch as head, for `followHeads`
 * @throws 409 when somebody moved the branch, or a pull request is no longer open with that base
 */
export async function landMerges(
  context: Context,
  landings: readonly Landing[],
  written: Promise<void> = Promise.resolve(),
): Promise<number[]> {
  const { database, git } = context;
  const [first, last] = [landings[0], landings.at(-1)];
  if (first === undefined || last === undefined) return [];
  const ids = landings.map(({ pull }) => pull.id);
  const intents = landings.map(({ intent }) => intent);
  let begun = false;
  const announced = merges.begin(database.autocommit(), intents).then((isPossible) => {
    begun = isPossible;
    if (!isPossible) throw baseMoved();
  });
  // Whoever moves the branch waits for it.
  announced.catch(() => {});
  try {
    const { base_branch: branch, base_sha: old } = first.intent;
    const base = { ref: branchRef(branch), new: last.intent.commit_sha, old };
    // Nearly always there already: pushes move them.
    const heads = landings
      .filter(({ pull, intent }) => pull.written_sha !== intent.head_sha)
      .map(({ pull, intent }) => ({ ref: pullRef(pull.number), new: intent.head_sha }));
    const before = { announced, written };
    const moved = await moveRefs(git, first.pull.repository_id, [base, ...heads], before);
    if (moved === 'done') {
      const recorded = [];
      for (const { pull, intent } of landings) recorded.push(await recordMerge(context, pull, intent));
      if (recorded.includes(undefined)) throw baseMoved();
      return recorded.flatMap((merge) => merge?.reminder ?? []);
    }
  } catch (error) {
    // Nothing of ours goes on once this has failed and the next one has the queue.
    await Promise.allSettled([written, announced]);
    if (!begun) throw error;
    // Whether the branch moved before this went wrong, only the repository knows; the records, only the database.
    for (const { pull } of landings) await settleSoon(context, pull);
    if (!(await areMerged(context, ids))) throw error;
    // One that was recorded without our hearing of it has left a reminder that nobody knows here: one more does no harm.
    const push = { repositoryId: first.pull.repository_id, actorId: last.intent.merged_by };
    const { id } = await pushes.insert(database.autocommit(), { ...push, details: { moves: [] } });
    return [id];
  }
  await merges.removeAll(database.autocommit(), ids);
  throw baseMoved();
}

async function areMerged({ database }: Context, ids: readonly number[]): Promise<boolean> {
  for (const id of ids) {
    const after = await pulls.findById(database.autocommit(), id);
    if (after === undefined || after.merged_at === null) return false;
  }
  return true;
}

/** Settles what just went wrong, with patience for a connection that was lost: else it waits for the next merge or edit. */
async function settleSoon(context: Context, pull: PullWithIssue): Promise<void> {
  for (const patience of [100, 500]) {
    try {
      await settleMergeOf(context, pull);
      return;
    } catch {
      await sleep(patience);
    }
  }
  await settleMergeOf(context, pull);
}
