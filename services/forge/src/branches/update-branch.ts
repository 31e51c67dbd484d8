import type { Caller } from '../caller/caller.ts';
import { resolveCommit } from '../commits/resolve-commit.ts';
import type { Context } from '../context.ts';
import { headMoved, notFound, unacceptable } from '../failures.ts';
import { hasCommit } from '../outside/git/merging/merge.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
import { findWritable } from './find-writable.ts';
import { moveInTurn } from './move-refs.ts';
import { loadPushRules } from './push-rules.ts';
import { checkArrived } from './refuse-arrived.ts';

/** Where a branch is to be. */
export interface BranchTarget {
  commit: string;
  /** Where the caller believes it is; empty for wherever. */
  expected: string;
  force: boolean;
}

/**
 * Moves a branch to a commit of the repository. Where it is there already nothing happens, and nobody is told of it.
 * @throws 403 when protected, 404, 409 when it is not where the caller believes, 422 when that would lose commits
 */
export async function updateBranch(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string; branch: string },
  { commit, expected, force }: BranchTarget,
): Promise<void> {
  const { git } = context;
  const { branch } = path;
  const found = await findWritable(context, caller, path);
  const { id } = found.repository;
  if (!isBranchName(branch)) throw notFound('the branch does not exist');
  const rules = await loadPushRules(context, found, caller.userId);
  const prepare = async () => {
    const before = await readRef(git, id, branchRef(branch));
    if (before === undefined) throw notFound('the branch does not exist');
    if (expected !== '' && expected !== before) throw headMoved();
    const { commit: after } = await resolveCommit(context, found, commit);
    const move = { ref: branchRef(branch), before, after };
    await checkArrived(context, found.repository, move, rules);
    if (!force && !(await hasCommit(git, id, after, before)))
      throw unacceptable('the branch would lose commits; force moves it all the same');
    return { moves: after === before ? [] : [move], result: undefined };
  };
  await moveInTurn(context, id, caller.userId, prepare, headMoved);
}
