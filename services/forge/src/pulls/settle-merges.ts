import type { Context } from '../context.ts';
import { HAPPENING, type Happening } from '../events/announce.ts';
import { removeLeftovers } from '../outside/git/leftovers.ts';
import { hasCommit } from '../outside/git/merging/merge.ts';
import { branchRef, moveRefs, pullRef, readRef } from '../outside/git/refs.ts';
import { settleEach } from '../settle-each.ts';
import * as merges from '../store/pulls/merges.ts';
import * as pulls from '../store/pulls/pulls.ts';
import { moveOf } from './mover.ts';
import { followHeads } from './sync-pulls.ts';

/** What is unusual about a merge that is recorded. */
interface RecordDetails {
  by?: 'us' | 'hand';
  at?: Date | undefined;
  headWritten?: boolean;
}

/**
 * Records a merge whose commit is on the base branch, tells of it and ends its intent: all of it or nothing. Undefined when
 * there is nothing to record: it is merged already, or has another base.
 * @param details who merged it, when not now, and whether its own ref is at the merged head, too; what somebody merged by
 *   hand did not move the branch now
 */
export async function recordMerge(
  { database }: Context,
  pull: pulls.PullOnBranch,
  merge: merges.MergeIntent,
  { by = 'us', at, headWritten = true }: RecordDetails = {},
): Promise<merges.Recorded | undefined> {
  const tx = database.autocommit();
  const told = { topic: HAPPENING, payloads: happeningsOf(pull, merge, by) };
  return await merges.record(tx, pull, merge, { headWritten, at: at ?? tx.now, moves: by === 'us', told });
}

/** The others are told of the pull request and of its base branch. */
function happeningsOf(pull: pulls.PullOnBranch, merge: merges.MergeIntent, by: 'us' | 'hand'): Happening[] {
  const place = { repositoryId: pull.repository_id, actorId: merge.merged_by };
  const closed: Happening = { kind: 'issue', action: 'closed', issueId: pull.issue_id, ...place };
  if (by === 'hand' || merge.base_sha === merge.commit_sha) return [closed];
  const moved = { ref: branchRef(merge.base_branch), before: merge.base_sha, after: merge.commit_sha };
  return [closed, { kind: 'ref', ...moved, authorId: pull.poster_id, ...place }];
}

/** At start: finishes or abandons the merges that a crash interrupted. */
export async function settleMerges(context: Context): Promise<void> {
  const { database } = context;
  await settleEach(
    context.log,
    'merge',
    await merges.list(database.autocommit()),
    async ({ pull_id: id, commit_sha: commit }) => {
      const pull = await pulls.findById(database.autocommit(), id);
      if (pull === undefined) return;
      await removeLeftovers(context.git, pull.repository_id, { ours: commit });
      // Whoever has the branch as head follows when pushes are settled, which comes next.
      await finish(context, pull);
    },
  );
}

/** Settles the interrupted merges into a branch, for whoever has the queue of branches. */
export async function settleMergesInto(
  context: Context,
  repositoryId: number,
  branch: string,
): Promise<void> {
  const tx = context.database.autocommit();
  for (const { pull_id: id } of await merges.listInto(tx, repositoryId, branch)) {
    const pull = await pulls.findById(tx, id);
    if (pull !== undefined) await settleMergeOf(context, pull);
  }
}

/** Settles the interrupted merge of a pull request, for whoever has the queue of branches. False when there is none. */
export async function settleMergeOf(context: Context, pull: pulls.PullOnBranch): Promise<boolean> {
  const finished = await finish(context, pull);
  if (finished === undefined) return false;
  const { merge, reminder } = finished;
  const mover = { actorId: merge.merged_by, moves: moveOf([merge]) };
  if (reminder !== null) await followHeads(context, pull.repository_id, mover, merge.base_branch, [reminder]);
  return true;
}

async function finish(
  context: Context,
  pull: pulls.PullOnBranch,
): Promise<(merges.Recorded & { merge: merges.MergeRow }) | undefined> {
  const { database, git, log } = context;
  const merge = await merges.find(database.autocommit(), pull.id);
  if (merge === undefined) return undefined;
  let recorded: merges.Recorded | undefined;
  const tip = await readRef(git, pull.repository_id, branchRef(merge.base_branch));
  const landed = tip !== undefined && (await hasCommit(git, pull.repository_id, tip, merge.commit_sha));
  if (landed) {
    // git moves the refs of one transaction one after the other: the crash may have come between.
    const head = { ref: pullRef(pull.number), new: merge.head_sha };
    const written = (await moveRefs(git, pull.repository_id, [head])) === 'done';
    recorded = await recordMerge(context, pull, merge, { headWritten: written });
  } else {
    await merges.remove(database.autocommit(), pull.id);
  }
  const fields = { repository: pull.repository_id, pull: pull.number, commit: merge.commit_sha };
  log.warn(
    fields,
    landed ? 'finished a merge that was interrupted' : 'abandoned a merge that was interrupted',
  );
  return { merge, reminder: recorded?.reminder ?? null };
}
