import { findWritable } from '../branches/find-writable.ts';
import { moveInTurn } from '../branches/move-refs.ts';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { headMoved, notFound, tagHasRelease } from '../failures.ts';
import { NO_COMMIT, readRefIds, tagRef } from '../outside/git/refs.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
import * as releases from '../store/repositories/releases.ts';
import { checkTag } from './check-tag.ts';

/**
 * Deletes a tag; what it led to stays.
 * @throws 403, 404, 409 while it has a release, 422 when it is protected, 423
 */
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
    // Looked up in the turn: who publishes a release does it in the same queue.
    const [refs, release] = await Promise.all([
      readRefIds(context.git, id, [ref]),
      releases.findByTag(context.database.autocommit(), id, path.tag),
    ]);
    const before = refs.get(ref);
    if (before === undefined) throw notFound('the tag does not exist');
    if (release !== undefined) throw tagHasRelease(path.tag);
    await checkTag(context, found, caller, { name: path.tag, what: 'delete' });
    return { moves: [{ ref, before, after: NO_COMMIT }], result: undefined };
  };
  await moveInTurn(context, id, caller.userId, prepare, headMoved);
}
