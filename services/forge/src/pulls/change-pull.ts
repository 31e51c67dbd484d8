import type { Tx } from '@croft/sql';
import type { Context } from '../context.ts';
import { notFound, unacceptable } from '../failures.ts';
import { changeIssue, type IssueEdit } from '../issues/change-issue.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import { markStale } from '../reviews/mark-stale.ts';
import type { IssueWithPull } from '../store/issues/issues.ts';
import * as pulls from '../store/pulls/pulls.ts';
import { followSince } from './follow-since.ts';
import { bringTip, isFromFork } from './read-head.ts';
import { settleMergeOf } from './settle-merges.ts';
import { branchQueue, writeHead } from './sync-pulls.ts';

/**
 * Does something to a pull request that must not happen during a merge, such as closing it or giving it another base,
 * with its row as it is when the turn comes.
 */
export async function betweenMerges(
  context: Context,
  pull: { id: number; repositoryId: number },
  work: (now: pulls.PullWithIssue) => Promise<void>,
): Promise<void> {
  const find = async () => {
    const found = await pulls.findById(context.database.autocommit(), pull.id);
    if (found === undefined) throw notFound();
    return found;
  };
  await context.queues.inTurn(branchQueue(pull.repositoryId), async () => {
    // One whose record failed may have been left behind.
    await settleMergeOf(context, await find());
    await work(await find());
  });
  // It may have been in the merge queue of its base.
  context.queues.bell.ring(pull.repositoryId);
}

/**
 * Edits the issue half of a pull request, and in the same transaction whatever else there is to change. One that is
 * reopened stands at its head branch as it is now, for nobody moved it while it was closed; or where it was, when that brought
 * commits of another repository which the actor or the poster may not read.
 * @throws 409, 412, 422 as for an issue, and 422 when a branch of one to reopen is gone
 */
export async function changePull(
  context: Context,
  pull: pulls.PullWithIssue,
  edit: IssueEdit,
  also: (tx: Tx, after: IssueWithPull) => Promise<void> = async () => {},
): Promise<void> {
  const head = await headToReopen(context, pull, edit);
  await context.database.transaction(async (tx) => {
    const after = await changeIssue(tx, pull.issue_id, edit);
    if (head !== undefined) await pulls.moveHead(tx, pull.id, head);
    if (head !== undefined && head !== pull.head_sha) await markStale(tx, pull.id, edit.actorId);
    await also(tx, after);
  });
  if (head !== undefined && head !== pull.written_sha) await writeHead(context, pull, head);
  if (head !== undefined && isFromFork(pull)) await followSince(context, pull.id, edit.actorId);
}

async function headToReopen(
  context: Context,
  pull: pulls.PullWithIssue,
  { state, base: newBase, actorId }: Pick<IssueEdit, 'state' | 'base' | 'actorId'>,
): Promise<string | undefined> {
  const reopens = state !== undefined && state !== null && state !== 'closed';
  if (!reopens || pull.closed_at === null || pull.merged_at !== null) return undefined;
  const base = newBase ?? (await readRef(context.git, pull.repository_id, branchRef(pull.base_branch)));
  if (base === undefined) throw unacceptable(`the base branch '${pull.base_branch}' does not exist`);
  const tip = await bringTip(context, pull, actorId);
  if (tip === undefined) throw unacceptable(`the head branch '${pull.head_branch}' does not exist`);
  return tip;
}
