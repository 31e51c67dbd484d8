import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { sendToHooks } from '../events/send-to-hooks.ts';
import { pushPayload } from '../events/write-ref-messages.ts';
import { notFound } from '../failures.ts';
import { branchRef, NO_COMMIT, readRef } from '../outside/git/refs.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { presentRepository } from '../repositories/present-repositories.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
import type { HookRow } from '../store/events/hooks.ts';
import { userJson } from '../users/user-json.ts';

/**
 * Sends a hook what it would get for a push that moved nothing, whatever events it is for.
 * @param branch the branch that is said to be pushed; the default branch when it is empty
 * @throws 404 for a branch that does not exist
 */
export async function testHook(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
  hook: HookRow,
  branch: string,
): Promise<void> {
  const found = await findRepository(context, caller, path);
  const { repository } = found;
  const name = branch.replace(/^refs\/heads\//, '') || repository.default_branch;
  const tip = isBranchName(name) ? await readRef(context.git, repository.id, branchRef(name)) : undefined;
  if (tip === undefined && branch !== '') throw notFound();
  const at = tip ?? NO_COMMIT;
  const about = {
    repository: await presentRepository(context, undefined, found),
    sender: userJson(caller.user, undefined, context.links),
  };
  const payload = await pushPayload(context, { ref: branchRef(name), before: at, after: at }, found, about);
  const sending = { message: { type: 'push' as const, payload }, receivers: [hook] };
  await context.database.transaction((tx) => sendToHooks(tx, [sending]));
}
