import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import { resolveCommit } from '../commits/resolve-commit.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound, refExists, unacceptable } from '../failures.ts';
import { branchRef, NO_COMMIT, readRef, readRefIds } from '../outside/git/refs.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
import type { branchSchema } from './branch-json.ts';
import { findWritable } from './find-writable.ts';
import { moveInTurn } from './move-refs.ts';
import { presentBranches } from './present-branches.ts';
import { loadPushRules } from './push-rules.ts';
import { checkArrived } from './refuse-arrived.ts';

const MAX_NAME = 100;

/** A branch that is to be. */
export interface NewBranch {
  name: string;
  /** The branch it begins at; empty for the default branch. */
  from: string;
  /** Instead of a branch, anything that names a commit. */
  fromRef: string;
}

/** Makes a branch and shows it. */
export async function createBranch(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
  { name, from, fromRef }: NewBranch,
): Promise<z.output<typeof branchSchema>> {
  const { git } = context;
  const found = await findWritable(context, caller, path);
  const { id, empty, default_branch: defaultBranch } = found.repository;
  checkNewName('NewBranchName', name);
  if (empty) throw forbidden('Git Repository is empty.');
  const rules = await loadPushRules(context, found, caller.userId);
  const source = from || defaultBranch;
  const commit = await moveInTurn(
    context,
    id,
    caller.userId,
    async () => {
      const [start, taken] = await Promise.all([
        fromRef === '' && isBranchName(source) ? readRef(git, id, branchRef(source)) : undefined,
        readRefIds(git, id, [branchRef(name)]),
      ]);
      if (taken.size > 0) throw refExists('branch', name);
      const after = fromRef === '' ? start : (await resolveCommit(context, found, fromRef)).commit;
      if (after === undefined) throw notFound('The old branch does not exist');
      const move = { ref: branchRef(name), before: NO_COMMIT, after };
      await checkArrived(context, found.repository, move, rules);
      return { moves: [move], result: after };
    },
    () => refExists('branch', name),
  );
  const [shown] = await presentBranches(context, caller, found, [{ name, commit }]);
  if (shown === undefined) throw notFound('the branch does not exist');
  return shown;
}

/** @throws 422 for a name that no branch or tag can have */
export function checkNewName(field: string, name: string): void {
  if (!isBranchName(name)) throw unacceptable(`[${field}]: GitRefName`);
  if (name.length > MAX_NAME) throw unacceptable(`[${field}]: MaxSize(${MAX_NAME})`);
}
