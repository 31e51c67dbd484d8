import type { Context } from '../context.ts';
import { copyCommit } from '../outside/git/copy-commits.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import type { PullRow } from '../store/pulls/pulls.ts';

/** Whether the head of a pull request is no branch of its repository: in a fork, in one that is gone, or pushed for review. */
export const isFromFork = (pull: PullRow) => pull.head_repository_id !== pull.repository_id;

/**
 * Where the head branch of a pull request is; undefined when it is gone, with its repository or without. What was pushed for
 * review has none that could go, and stands where its row says.
 */
export async function readHeadTip({ git }: Context, pull: PullRow): Promise<string | undefined> {
  if (pull.topic !== null) return pull.head_sha;
  if (pull.head_repository_id === null) return undefined;
  return await readRef(git, pull.head_repository_id, branchRef(pull.head_branch));
}

/** The same, with its commits in the repository of the pull request when this returns. */
export async function bringHead(context: Context, pull: PullRow): Promise<string | undefined> {
  const tip = await readHeadTip(context, pull);
  if (tip !== undefined) await bringCommit(context, pull, tip);
  return tip;
}

/** Copies a commit of the head into the repository of the pull request, unless it is there. */
export async function bringCommit({ git }: Context, pull: PullRow, commit: string): Promise<void> {
  const { head_repository_id: from, repository_id: to } = pull;
  if (from === null || from === to || commit === pull.written_sha) return;
  await copyCommit(git, { from, to }, commit);
}
