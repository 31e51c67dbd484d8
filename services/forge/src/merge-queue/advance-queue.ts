import { Failure } from '@croft/failure';
import type { Context } from '../context.ts';
import { notMergeable } from '../failures.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import { checkRequirements } from '../pulls/check-requirements.ts';
import { type Landing, landMerges } from '../pulls/land-merges.ts';
import { moveOf } from '../pulls/mover.ts';
import { settleMergesInto } from '../pulls/settle-merges.ts';
import { branchQueue, followHeads } from '../pulls/sync-pulls.ts';
import { findProtection } from '../rules/git/protection.ts';
import { planQueue, type QueueStep, whyGone } from '../rules/pulls/merge-queue.ts';
import { checkStyle, type MergeStyle } from '../rules/pulls/merge-style.ts';
import { isWorkInProgress } from '../rules/pulls/mergeable.ts';
import type { QueueEntry } from '../store/pulls/merge-queue.ts';
import * as mergeQueue from '../store/pulls/merge-queue.ts';
import * as branchProtections from '../store/repositories/branch-protections.ts';
import type { RepositoryRow } from '../store/repositories/repositories.ts';
import type { Attempts } from './attempts.ts';
import { mergersOf } from './find-merger.ts';
import { finishLanded } from './finish-landed.ts';
import { findUnrecorded, judgeEntries, standingOf } from './judge-entries.ts';
import { makeMerges, refOf } from './make-merges.ts';
import { keepQueueRefs } from './queue-refs.ts';
import { type QueueOptions, type QueuePlace, queueOptionsOf } from './queue-terms.ts';
import { removeEntry } from './remove-entry.ts';

/** More are not taken out of a queue that is no more in one step. */
const MOST = 100;

/**
 * Takes the merge queue of a branch as far as it goes now. Each step is decided from rows and refs alone and has its own
 * turn among everything that moves branches: a crash between or within steps leaves nothing that the next one does not see.
 */
export async function advanceQueue(
  context: Context,
  place: QueuePlace,
  attempts: Attempts,
  stop: AbortSignal,
): Promise<void> {
  const turn = branchQueue(place.repositoryId);
  for (let goesOn = true; goesOn && !stop.aborted; ) {
    await finishLanded(context, place, attempts);
    goesOn = await context.queues.inTurn(turn, () => takeStep(context, place, attempts));
  }
}

/** Whether there is another step. */
type Step = boolean;

const NEXT = true;
const LAST = false;

async function takeStep(context: Context, place: QueuePlace, attempts: Attempts): Promise<Step> {
  const { database, git } = context;
  const { repositoryId, branch } = place;
  const tx = database.autocommit();
  await settleMergesInto(context, repositoryId, branch);
  const options = queueOptionsOf(findProtection(await branchProtections.list(tx, repositoryId), branch));
  const entries = await mergeQueue.list(tx, repositoryId, branch, options?.batch ?? MOST);
  const tip = entries.length === 0 ? undefined : await readRef(git, repositoryId, branchRef(branch));
  if (options === undefined || tip === undefined) return await dissolve(context, place, entries, options);
  if (await sendGone(context, place, entries)) return NEXT;
  const judged = await judgeEntries(context, repositoryId, options, entries);
  const { batch, timeoutMinutes } = options;
  const step = planQueue(judged, { branch, tip, batch, timeoutMinutes, now: context.clock.now() });
  return await carryOut(context, place, attempts, options, entries, step);
}

async function carryOut(
  context: Context,
  place: QueuePlace,
  attempts: Attempts,
  options: QueueOptions,
  entries: readonly QueueEntry[],
  step: QueueStep,
): Promise<Step> {
  switch (step.kind) {
    case 'leave': {
      const leaver = entries[step.place];
      if (leaver !== undefined) await sendAway(context, place, entries, leaver, step.reason);
      return NEXT;
    }
    case 'make': {
      const [standing, toMake] = [entries.slice(0, step.from), entries.slice(step.from, step.to)];
      await makeMerges(context, place, options, { standing, entries: toMake, onto: step.onto, attempts });
      return NEXT;
    }
    case 'land':
      return await land(context, place, attempts, options, entries, step.count);
    case 'wait':
      await keepQueueRefs(context.git, place, refsOf(entries));
      return LAST;
  }
}

/** The refs of all that have merges. Those of merges that are to be made anew stay until they are. */
const refsOf = (entries: readonly QueueEntry[]) =>
  new Map(entries.filter(({ row }) => row.commit_sha !== null).map(refOf));

/**
 * Sends away, wherever they wait, those that have no business here any more: their places are for others, and they may be
 * queued anew. Whether there were any.
 */
async function sendGone(
  context: Context,
  place: QueuePlace,
  entries: readonly QueueEntry[],
): Promise<boolean> {
  const { repositoryId, branch } = place;
  const found = await mergeQueue.listGone(context.database.autocommit(), repositoryId, branch, MOST);
  if (found.length === 0) return false;
  const tips = await findUnrecorded(context.git, repositoryId, found);
  const gone = found.flatMap((entry) => {
    const reason = whyGone(standingOf(entry, tips.get(entry.pull.id)), branch);
    return reason === undefined ? [] : [{ entry, reason }];
  });
  if (gone.length === 0) return false;
  const ids = new Set(gone.map(({ entry }) => entry.row.id));
  await keepQueueRefs(context.git, place, refsOf(entries.filter(({ row }) => !ids.has(row.id))));
  for (const { entry, reason } of gone) await removeEntry(context, entry, entry.row.queued_by, reason);
  return true;
}

/** Its ref goes first: a row without one gets it again, but nobody would look for a ref without a row. */
async function sendAway(
  context: Context,
  place: QueuePlace,
  entries: readonly QueueEntry[],
  leaver: QueueEntry,
  reason: string,
): Promise<void> {
  await keepQueueRefs(context.git, place, refsOf(entries.filter((entry) => entry !== leaver)));
  await removeEntry(context, leaver, leaver.row.queued_by, reason);
}

/** The branch, or its queue, is no more. */
async function dissolve(
  context: Context,
  place: QueuePlace,
  entries: readonly QueueEntry[],
  options: QueueOptions | undefined,
): Promise<Step> {
  await keepQueueRefs(context.git, place, new Map());
  const reason = options === undefined ? 'the branch has no merge queue any more' : 'the branch is gone';
  for (const entry of entries) await removeEntry(context, entry, entry.row.queued_by, reason);
  return entries.length > 0 ? NEXT : LAST;
}

/** Merges the first of a queue, unless one of them may not be merged any more: then only that one goes. */
async function land(
  context: Context,
  place: QueuePlace,
  attempts: Attempts,
  options: QueueOptions,
  entries: readonly QueueEntry[],
  count: number,
): Promise<Step> {
  const landing = entries.slice(0, count);
  const mergerOf = mergersOf(context);
  for (const entry of landing) {
    try {
      const { found } = await mergerOf(entry);
      await checkStill(context, options, entry, found.repository);
    } catch (error) {
      // What is our own fault is told to nobody.
      if (!(error instanceof Failure) || !attempts.isFinal(entry.row.id, error, context.clock.now()))
        throw error;
      await sendAway(context, place, entries, entry, error.message);
      return NEXT;
    }
  }
  await keepQueueRefs(context.git, place, refsOf(entries.slice(count)));
  let reminders: number[];
  try {
    reminders = await landMerges(context, landing.map(landingOf));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // Somebody pushed to the branch: the next step sees where it is. Anything else gets time to go away.
    const now = await readRef(context.git, place.repositoryId, branchRef(place.branch));
    return now === landing[0]?.row.onto_sha ? LAST : NEXT;
  }
  const actorId = landing.at(-1)?.row.queued_by ?? null;
  // What others queued along with his is not his.
  const areHis = landing.every(({ row }) => row.queued_by === actorId);
  const moves = areHis ? moveOf(landing.map((entry) => landingOf(entry).intent)) : [];
  // The branch may itself be the head of other pull requests.
  await followHeads(context, place.repositoryId, { actorId, moves }, place.branch, reminders);
  return NEXT;
}

/** @throws 405 when something that is required was lost while the checks ran */
async function checkStill(
  context: Context,
  options: QueueOptions,
  { row, pull }: QueueEntry,
  repository: RepositoryRow,
): Promise<void> {
  if (isWorkInProgress(pull.title)) throw notMergeable('it is work in progress');
  const commits = {
    base: row.onto_sha ?? '',
    head: row.head_sha,
    mergeBase: row.merge_base ?? undefined,
    made: row.commit_sha ?? undefined,
  };
  const style = row.style as MergeStyle;
  checkStyle(style, repository);
  await checkRequirements(context, pull, commits, options.protection, { style });
}

function landingOf({ row, pull }: QueueEntry): Landing {
  return {
    pull,
    intent: {
      pull_id: pull.id,
      merged_by: row.queued_by,
      base_branch: row.base_branch,
      base_sha: row.onto_sha ?? '',
      head_sha: row.head_sha,
      merge_base: row.merge_base ?? '',
      commit_sha: row.commit_sha ?? '',
      made_by: 'queue',
    },
  };
}
