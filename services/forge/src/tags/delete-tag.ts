import { findWritable } from '../branches/find-writable.ts';
import { moveInTurn } from '../branches/move-refs.ts';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { headMoved, notFound } from '../failures.ts';
import { NO_COMMIT, readRefIds, tagRef } from '../outside/git/refs.ts';
import { isBranchName } from '../rules/git/branch-name.ts';

/** Deletes a tag; what it led to stays. */
export async function deleteTag(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string; tag: string },
): Promise<void> {
  const found = await findWritable(context, caller, path);
  const { id } = found.repository;
  const ref = tagRef(path.tag);
  if (!isBranchName(path.tag)) throw notFound('the tag does not exist');
  const prepare = async () => {
    const before = (await readRefIds(context.git, id, [ref])).get(ref);
    if (before === undefined) throw notFound('the tag does not exist');
    return { moves: [{ ref, before, after: NO_COMMIT }], result: undefined };
  };
  await moveInTurn(context, id, caller.userId, prepare, headMoved);
}
