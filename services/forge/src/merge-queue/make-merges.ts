import { Failure } from '@croft/failure';
import type { Context } from '../context.ts';
import { announceAll } from '../events/announce.ts';
import { NO_COMMIT } from '../outside/git/refs.ts';
import { checkMade } from '../pulls/check-requirements.ts';
import { checkMerge, type MergeWish, writeMergeOf } from '../pulls/prepare-merge.ts';
import type { Protection } from '../rules/git/protection.ts';
import { checkStyle } from '../rules/pulls/merge-style.ts';
import { conflictWords } from '../rules/pulls/mergeable.ts';
import type { QueueEntry } from '../store/pulls/merge-queue.ts';
import * as mergeQueue from '../store/pulls/merge-queue.ts';
import type { MergeIntent } from '../store/pulls/merges.ts';
import type { Attempts } from './attempts.ts';
import { type Merger, mergersOf } from './find-merger.ts';
import { keepQueueRefs } from './queue-refs.ts';
import { type QueueOptions, type QueuePlace, queueRef } from './queue-terms.ts';
import { removeEntry } from './remove-entry.ts';

/** What is to be made: the entries in front have merges already, the first of the others goes onto `onto`. */
export interface Making {
  standing: readonly QueueEntry[];
  entries: readonly QueueEntry[];
  onto: string;
  attempts: Attempts;
}

/**
 * Makes merges ahead of a branch, each onto the one before. They can be fetched before anybody is told of them. A pull
 * request that does not merge leaves the queue, and those behind it wait for the next step. So does one whose merge cannot be
 * made, when that was tried often enough; until then it keeps nobody waiting who is before it.
 */
export async function makeMerges(
  context: Context,
  place: QueuePlace,
  { required, protection }: QueueOptions,
  { standing, entries, onto, attempts }: Making,
): Promise<void> {
  const mergerOf = mergersOf(context);
  const made: Made[] = [];
  let refused: { entry: QueueEntry; reason: string } | undefined;
  let failed: { error: unknown } | undefined;
  for (const entry of entries) {
    const base = made.at(-1)?.intent.commit_sha ?? onto;
    try {
      made.push({ entry, intent: await makeMerge(context, await mergerOf(entry), entry, base, protection) });
      attempts.forget(entry.row.id);
    } catch (error) {
      if (attempts.isFinal(entry.row.id, error, context.clock.now()))
        refused = { entry, reason: await explain(context, entry, base, error) };
      else failed = { error };
      break;
    }
  }
  // Where no check is required, nobody looks at them before they are on the branch.
  const refs = required.length === 0 ? [] : [...standing.map(refOf), ...made.map(madeRefOf)];
  await keepQueueRefs(context.git, place, new Map(refs));
  if (made.length > 0) await record(context, place, made, required.length > 0);
  if (failed !== undefined) throw failed.error;
  if (refused === undefined) return;
  await removeEntry(context, refused.entry, refused.entry.row.queued_by, refused.reason);
  attempts.forget(refused.entry.row.id);
}

interface Made {
  entry: QueueEntry;
  intent: MergeIntent;
}

/** The ref of a merge that was made. */
export const refOf = ({ row, pull }: QueueEntry): [string, string] => [
  queueRef(row.base_branch, pull.number),
  row.commit_sha ?? NO_COMMIT,
];

const madeRefOf = ({ entry: { row, pull }, intent }: Made): [string, string] => [
  queueRef(row.base_branch, pull.number),
  intent.commit_sha,
];

async function makeMerge(
  context: Context,
  { caller, found }: Merger,
  { row, pull }: QueueEntry,
  base: string,
  protection: Protection,
): Promise<MergeIntent> {
  const { title, message, head_sha: head } = row;
  const wish = { style: row.style as MergeWish['style'], title, message };
  checkStyle(wish.style, found.repository);
  const mergeBase = await checkMerge(context, pull, wish.style, { base, head });
  const made = await writeMergeOf(context, caller, found, wish, { base, head, mergeBase });
  // Said before anybody tests it; when it lands, it is looked at with all that is required then.
  await checkMade(context, pull.repository_id, made, protection);
  return made;
}

/** Rows and the announcement to those who check: all or nothing. */
async function record(
  { database }: Context,
  { repositoryId }: QueuePlace,
  made: readonly Made[],
  isChecked: boolean,
): Promise<void> {
  await database.transaction(async (tx) => {
    await mergeQueue.markMade(
      tx,
      made.map(({ entry, intent: { base_sha, merge_base, commit_sha } }) => {
        return { id: entry.row.id, onto_sha: base_sha, merge_base, commit_sha };
      }),
    );
    if (!isChecked) return;
    await announceAll(
      tx,
      made.map((one) => {
        const [ref, after] = madeRefOf(one);
        const { commit_sha: before, queued_by: actorId } = one.entry.row;
        return { kind: 'ref', ref, before: before ?? NO_COMMIT, after, repositoryId, actorId };
      }),
    );
  });
}

/** Why a pull request does not merge, for its timeline: the endpoint's words are for who merges now. */
async function explain(
  { outlooks, log }: Context,
  { row, pull }: QueueEntry,
  base: string,
  error: unknown,
): Promise<string> {
  if (!(error instanceof Failure)) {
    const reason = error instanceof Error ? error.stack : String(error);
    log.error(
      { repository: row.repository_id, pull: pull.number, reason },
      'a merge queue gave up on a merge',
    );
    return 'its merge could not be made';
  }
  if (error.code !== 'not_mergeable') return error.message;
  // Nearly always it is remembered; what goes wrong with the reason is no reason to keep the entry.
  const outlook = await outlooks.of(row.repository_id, base, row.head_sha).catch(() => undefined);
  const { outcome, conflicts = [] } = outlook ?? {};
  if (outcome === 'conflicts') return conflictWords(conflicts);
  if (outcome === 'nothing') return `${pull.base_branch} has everything of it`;
  return error.message;
}
