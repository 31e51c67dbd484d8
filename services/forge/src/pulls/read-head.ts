import type { Context } from '../context.ts';
import { copyCommit } from '../outside/git/copy-commits.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import type { PullRow, PullWithIssue } from '../store/pulls/pulls.ts';
import * as pulls from '../store/pulls/pulls.ts';

/** Whether the head of a pull request is no branch of its repository: in a fork, in one that is gone, or pushed for review. */
export const isFromFork = (pull: PullRow) => pull.head_repository_id !== pull.repository_id;

/**
 * Where the head of a pull request is, for whoever may see its repository; undefined when its branch is gone. An open one from
 * elsewhere is where its row says, which follows the branch as long as it may; a closed one shows where that went since. What was
 * pushed for review has no branch that could go.
 */
export async function readHeadTip(context: Context, pull: PullWithIssue): Promise<string | undefined> {
  const { head_repository_id: home } = pull;
  if (pull.topic !== null || (home !== null && isFromFork(pull) && pull.closed_at === null))
    return pull.head_sha;
  return await readBranch(context, pull);
}

/**
 * The head that a merge takes, whose commits are there; undefined when the branch is gone. From elsewhere that is the one of
 * the row as it is now: what a fork is ahead of it nobody has looked at, and it may be for nobody here to see.
 */
export async function bringHead(context: Context, pull: PullRow): Promise<string | undefined> {
  if (!isFromFork(pull)) return await readBranch(context, pull);
  return (await pulls.findById(context.database.autocommit(), pull.id))?.head_sha;
}

/**
 * Where a pull request goes that follows its head branch, with the commits in its repository when this returns; undefined when
 * the branch is gone. It stays where its row says when its poster, or who wants it to follow, may not read what it would bring
 * from another repository.
 */
export async function bringTip(
  context: Context,
  pull: PullRow,
  actorId: number,
): Promise<string | undefined> {
  if (pull.topic !== null) return pull.head_sha;
  const tip = await readBranch(context, pull);
  if (tip === undefined || tip === pull.head_sha || !isFromFork(pull)) return tip;
  // Asked after the look at the branch: whoever may read it now could read what was there then.
  if (!(await pulls.mayReadHead(context.database.autocommit(), pull.id, actorId))) return pull.head_sha;
  await bringCommit(context, pull, tip);
  return tip;
}

/** Copies a commit of the head into the repository of the pull request, unless it is there. */
export async function bringCommit({ git }: Context, pull: PullRow, commit: string): Promise<void> {
  const { head_repository_id: from, repository_id: to } = pull;
  if (from === null || from === to || commit === pull.written_sha) return;
  await copyCommit(git, { from, to }, commit);
}

async function readBranch({ git }: Context, pull: PullRow): Promise<string | undefined> {
  if (pull.head_repository_id === null) return undefined;
  return await readRef(git, pull.head_repository_id, branchRef(pull.head_branch));
}
