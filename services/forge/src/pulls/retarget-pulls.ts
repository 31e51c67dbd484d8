import type { Tx } from '@croft/sql';
import { endUnlessMerger } from '../auto-merge/end-unless-merger.ts';
import type { Context } from '../context.ts';
import { announce } from '../events/announce.ts';
import { branchRef, readRefs } from '../outside/git/refs.ts';
import { judgeAnew } from '../reviews/judge-anew.ts';
import * as comments from '../store/issues/comments.ts';
import * as issues from '../store/issues/issues.ts';
import * as mergeQueue from '../store/pulls/merge-queue.ts';
import * as pulls from '../store/pulls/pulls.ts';
import * as repositories from '../store/repositories/repositories.ts';
import * as reviews from '../store/reviews/reviews.ts';
import { settleMergeOf } from './settle-merges.ts';
import { about, branchQueue, closeIssueOf } from './sync-pulls.ts';

/**
 * Lets open pull requests into branches that are gone go to where the branch itself was merged (stacks/restack-head.ts
 * sees to their commits), or else to the default branch; where that cannot be, because it is their head, is missing or has a pull
 * request from there already, they are closed. As often as one likes.
 */
export async function retargetPulls(
  context: Context,
  repositoryId: number,
  branches: readonly string[],
  actorId: number | null,
): Promise<void> {
  const { database, git, queues } = context;
  const tx = database.autocommit();
  await queues.inTurn(branchQueue(repositoryId), async () => {
    const open = await pulls.listOpenByBase(tx, repositoryId, branches);
    const repository = open.length === 0 ? undefined : await repositories.findById(tx, repositoryId);
    if (repository === undefined) return;
    const { default_branch: fallback } = repository;
    const below = await pulls.listLastMerged(tx, repositoryId, branches);
    const merged = new Map(below.map((pull) => [pull.head_branch, pull]));
    const bases = open.map((pull) => pull.base_branch);
    const names = [
      ...new Set([fallback, ...bases, ...[...merged.values()].map(({ base_branch: base }) => base)]),
    ];
    const tips = await readRefs(git, repositoryId, names.map(branchRef));
    const there = new Set(names.filter((_, index) => tips[index] !== undefined));
    for (const pull of open.filter(({ base_branch: base }) => !there.has(base))) {
      await settleMergeOf(context, pull);
      const lower = merged.get(pull.base_branch);
      // One that was merged before there was this one had a branch of the same name at most.
      const stoodOn = lower?.closed_at && lower.closed_at >= pull.created_at ? lower.base_branch : fallback;
      const wanted = [stoodOn, fallback];
      await retarget(
        context,
        pull,
        wanted.find((name) => there.has(name)),
        actorId,
      );
    }
  });
}

async function retarget(
  { database }: Context,
  pull: pulls.PullOnBranch,
  target: string | undefined,
  actorId: number | null,
): Promise<void> {
  const isHead = pull.head_branch === target && pull.head_repository_id === pull.repository_id;
  await database.transaction(async (tx) => {
    const now = await issues.lockById(tx, pull.issue_id);
    if (now === undefined || now.closed_at !== null) return;
    await repositories.lock(tx, pull.repository_id);
    const branches = { ...pulls.branchesOf(pull), baseBranch: target ?? '' };
    const isPossible =
      target !== undefined && !isHead && (await pulls.findOpenTwin(tx, branches, pull.id)) === undefined;
    if (isPossible) await changeBase(tx, pull, target, { actorId, chosen: false });
    else await closeIssueOf(tx, pull, [], actorId);
  });
}

/**
 * Gives a pull request that is held another base, in its row and its timeline, and tells of it.
 * @param chosen whether the actor wanted this base, rather than the end of the former one
 */
export async function changeBase(
  tx: Tx,
  pull: pulls.PullOnBranch,
  base: string,
  { actorId, chosen }: { actorId: number | null; chosen: boolean },
): Promise<void> {
  await pulls.updateBase(tx, pull.id, base);
  await mergeQueue.end(tx, pull.issue_id);
  // They were given by who may approve for the other branch.
  await reviews.takeApprovalsBack(tx, pull.id);
  await judgeAnew(tx, pull, base);
  const details = { old_ref: pull.base_branch, new_ref: base };
  const kind = 'change_target_branch';
  await comments.add(tx, { issueId: pull.issue_id, kind, posterId: actorId, details });
  // Who scheduled it did so for the other branch, and to edit it takes less than to merge.
  await endUnlessMerger(tx, pull, chosen ? actorId : null, actorId);
  if (actorId === null) return;
  const formerBase = pull.base_branch;
  const changes = { ref: { from: formerBase } };
  await announce(tx, { kind: 'issue', action: 'edited', changes, formerBase, ...about(pull, actorId) });
}
