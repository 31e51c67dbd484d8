import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { headMoved, notFound } from '../failures.ts';
import { loadPeople, type People } from '../issues/load-people.ts';
import { readAhead } from '../outside/git/merging/merge.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import { keepsFiles, type Protection } from '../rules/git/protection.ts';
import { checkStyle, type MergeStyle } from '../rules/pulls/merge-style.ts';
import { checkOutlook, checkRelated, type MergeOutlook } from '../rules/pulls/mergeable.ts';
import * as mergeFacts from '../store/pulls/merge-facts.ts';
import type { MergeIntent } from '../store/pulls/merges.ts';
import type { PullWithIssue } from '../store/pulls/pulls.ts';
import type { PullToMerge } from './check-merger.ts';
import { checkMade, checkRequirements, type RequirementsPast } from './check-requirements.ts';
import { messageOf, rewordingOf } from './merge-words.ts';
import { bringHead } from './read-head.ts';
import { writeDecided } from './write-merge.ts';

/** What a merge is to be like. */
export interface MergeWish {
  style: Exclude<MergeStyle, 'manually-merged'>;
  title: string;
  message: string;
}

/** Where the two sides of a merge are. */
export interface MergeSides {
  base: string;
  head: string;
  mergeBase: string;
  /** The head of the pull request it stands on: what that one brings is there, perhaps in other words, and is left out. */
  upstream?: string | undefined;
}

/** A merge that was decided on, whose commit is on its way to the disk. */
export interface MergeUnderWay {
  intent: MergeIntent;
  /** Whoever gets this waits for it, whatever else goes wrong. */
  written: Promise<void>;
}

/**
 * Decides, and writes the merge to where nobody sees it yet. For whoever has the queue of branches.
 * @throws 404, 405, 409 as the endpoint
 */
export async function prepareMerge(
  context: Context,
  caller: Caller,
  found: PullToMerge,
  wanted: MergeWish & { headCommit: string },
  protection: Protection | undefined,
  past: RequirementsPast = {},
): Promise<MergeUnderWay> {
  const loading = loadPeople(context, [found.pull.poster_id], [caller.user]);
  // Nothing of ours goes on once this has failed and the next one has the queue: the sides, which take longer, come first.
  loading.catch(() => {});
  const sides = await checkSides(context, found, wanted, protection, past);
  const people = await loading;
  const merge = await beginMergeOf(context, caller, found, wanted, sides, { people, baseTip: sides.base });
  if (keepsFiles(protection)) {
    await merge.written;
    await checkMade(context, found.repository.id, merge.intent, protection, past);
  }
  return merge;
}

/**
 * Looks at what a merge would bring, at the branches as they are, and at what is required of it.
 * @throws 404, 405, 409, in the order of the contract
 */
export async function checkSides(
  context: Context,
  found: PullToMerge,
  wanted: Pick<MergeWish, 'style'> & { headCommit: string },
  protection: Protection | undefined,
  past: RequirementsPast = {},
): Promise<MergeSides> {
  const { base, head, outlook } = await checkReady(context, found, wanted.style, protection, past);
  checkStyle(wanted.style, found.repository);
  if (wanted.headCommit !== '' && wanted.headCommit !== head) throw headMoved();
  checkRelated(outlook, wanted.style);
  // With related histories there is one.
  return { base, head, mergeBase: outlook.mergeBase ?? base };
}

/**
 * The part of it that does not depend on how it is merged, nearly: whether commits are signed does.
 * @throws 404, 405
 */
export async function checkReady(
  context: Context,
  { pull }: PullToMerge,
  style: MergeStyle,
  protection: Protection | undefined,
  past: RequirementsPast,
): Promise<{ base: string; head: string; outlook: MergeOutlook }> {
  const baseRef = branchRef(pull.base_branch);
  const load = (head: string) => mergeFacts.load(context.database.autocommit(), pull, head);
  // Nearly always the head is where the row says.
  const loading = load(pull.head_sha);
  loading.catch(() => {});
  const [base, tip] = await Promise.all([
    readRef(context.git, pull.repository_id, baseRef),
    bringHead(context, pull),
    readAhead(context.git, pull.repository_id, pull.head_sha),
  ]);
  if (base === undefined) throw notFound('the base branch does not exist');
  const head = tip ?? pull.head_sha;
  const [outlook, facts] = await Promise.all([
    context.outlooks.of(pull.repository_id, base, head),
    head === pull.head_sha ? loading : load(head),
  ]);
  checkOutlook(pull.title, outlook);
  const commits = { base, head, mergeBase: outlook.mergeBase };
  await checkRequirements(context, pull, commits, protection, { ...past, style, facts });
  return { base, head, outlook };
}

/**
 * The merge base of two commits that merge.
 * @throws 405, 409
 */
export async function checkMerge(
  { outlooks }: Context,
  pull: PullWithIssue,
  style: MergeStyle,
  { base, head }: { base: string; head: string },
): Promise<string> {
  const outlook = await outlooks.of(pull.repository_id, base, head);
  checkOutlook(pull.title, outlook);
  checkRelated(outlook, style);
  // With a clean outlook there is one.
  return outlook.mergeBase ?? base;
}

/** Writes a merge of two commits that merge, and says what there is to be done with it. */
export async function writeMergeOf(
  context: Context,
  caller: Caller,
  found: PullToMerge,
  wanted: MergeWish,
  sides: MergeSides,
): Promise<MergeIntent> {
  const { intent, written } = await beginMergeOf(context, caller, found, wanted, sides);
  await written;
  return intent;
}

/**
 * The same, but returns as soon as the commit is known.
 * @param known the poster among other people, and where the base branch of the pull request is, when those are at hand
 */
async function beginMergeOf(
  context: Context,
  caller: Caller,
  found: PullToMerge,
  wanted: MergeWish,
  sides: MergeSides,
  known: { people?: People; baseTip?: string } = {},
): Promise<MergeUnderWay> {
  const { pull } = found;
  const { style } = wanted;
  const people = known.people ?? (await loadPeople(context, [pull.poster_id], [caller.user]));
  const poster = people.byId(pull.poster_id);
  const of = { pull, poster, baseTip: known.baseTip };
  const message = () => messageOf(context, found, of, style, wanted);
  const decided = { style, ...sides, message, reword: () => rewordingOf(context, found, of), poster };
  const { id, written } = await writeDecided(context, pull.repository_id, caller, decided);
  const intent = {
    pull_id: pull.id,
    merged_by: caller.userId,
    base_branch: pull.base_branch,
    base_sha: sides.base,
    head_sha: sides.head,
    merge_base: sides.mergeBase,
    commit_sha: id,
  };
  return { intent, written };
}
