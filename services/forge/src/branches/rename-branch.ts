import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound, refExists } from '../failures.ts';
import { branchRef, NO_COMMIT, readRef, readRefIds } from '../outside/git/refs.ts';
import { checkAdmin } from '../repositories/find-repository.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
import * as repositories from '../store/repositories/repositories.ts';
import { checkNewName } from './create-branch.ts';
import { findWritable } from './find-writable.ts';
import { moveInTurn } from './move-refs.ts';
import { loadPushRules, refuseMove } from './push-rules.ts';
import { checkArrived } from './refuse-arrived.ts';

/**
 * Gives a branch another name; pull requests and the default branch follow. The default branch is for administrators.
 * @throws 403 also for protected names, 404, 422 when the name is taken
 */
export async function renameBranch(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string; branch: string },
  name: string,
): Promise<void> {
  const { git } = context;
  const { branch } = path;
  const found = await findWritable(context, caller, path);
  const { id } = found.repository;
  checkNewName('Name', name);
  if (!isBranchName(branch)) throw notFound('the branch does not exist');
  const rules = await loadPushRules(context, found, caller.userId);
  const prepare = async () => {
    // In our turn: what is the default branch can change meanwhile.
    const repository = await repositories.findById(context.database.autocommit(), id);
    if (branch === repository?.default_branch) checkAdmin(found);
    const before = await readRef(git, id, branchRef(branch));
    if (before === undefined) throw notFound('the branch does not exist');
    if (refuseMove(rules, branch, 'delete') !== undefined) throw forbidden('branch protected');
    const taken = await readRefIds(git, id, [branchRef(name)]);
    if (taken.size > 0) throw refExists('branch', name, 'unprocessable');
    const made = { ref: branchRef(name), before: NO_COMMIT, after: before };
    await checkArrived(context, found.repository, made, rules);
    const moves = [made, { ref: branchRef(branch), before, after: NO_COMMIT }];
    return { moves, renamed: { from: branch, to: name }, result: undefined };
  };
  // One in the way of the name shows only when the branch moves.
  const blocked = () => refExists('branch', name, 'unprocessable');
  await moveInTurn(context, id, caller.userId, prepare, blocked);
}
