import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, headMoved, notFound } from '../failures.ts';
import { branchRef, NO_COMMIT, readRef } from '../outside/git/refs.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
import * as contents from '../store/repositories/contents.ts';
import { findWritable } from './find-writable.ts';
import { moveInTurn } from './move-refs.ts';
import { loadPushRules, refuseMove } from './push-rules.ts';

/**
 * Deletes a branch; open pull requests from it are closed.
 * @throws 403 for the default branch and for protected ones, 404
 */
export async function deleteBranch(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string; branch: string },
): Promise<void> {
  const { branch } = path;
  const found = await findWritable(context, caller, path);
  const { id } = found.repository;
  if (!isBranchName(branch)) throw notFound('the branch does not exist');
  const tx = context.database.autocommit();
  const rules = await loadPushRules(context, found, caller.userId);
  const prepare = async () => {
    // Looked up in the turn: who moves the default branch does it in the same queue.
    const [before, known] = await Promise.all([
      readRef(context.git, id, branchRef(branch)),
      contents.find(tx, id),
    ]);
    if (branch === known?.default_branch) throw forbidden('can not delete default branch');
    if (before === undefined) throw notFound('the branch does not exist');
    if (refuseMove(rules, branch, 'delete') !== undefined) throw forbidden('branch protected');
    return { moves: [{ ref: branchRef(branch), before, after: NO_COMMIT }], result: undefined };
  };
  await moveInTurn(context, id, caller.userId, prepare, headMoved);
}
