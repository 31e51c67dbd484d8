import { checkNewName } from '../branches/create-branch.ts';
import type { Caller } from '../caller/caller.ts';
import { resolveCommit } from '../commits/resolve-commit.ts';
import type { Context } from '../context.ts';
import { tagObject, writeObject } from '../outside/git/objects.ts';
import { NO_COMMIT, tagRef } from '../outside/git/refs.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import type { RefMove } from '../store/repositories/pushes.ts';
import { signatureOf } from '../users/signature-of.ts';
import { checkTag } from './check-tag.ts';

/** A tag that is to be. */
export interface NewTag {
  name: string;
  /** With one, the tag is an object of its own that says who made it. */
  message: string;
  /** What names a commit; empty for the default branch. */
  target: string;
}

/**
 * How a tag comes that is not there yet, for whoever has the queue of branches; its object, if it is one, is written.
 * @throws 404 for a target that does not exist, 422 for a name that no tag can have, and for one that is protected
 */
export async function planTag(
  context: Context,
  found: VisibleRepository,
  caller: Caller,
  { name, message, target }: NewTag,
): Promise<RefMove> {
  checkNewName('TagName', name);
  await checkTag(context, found, caller, { name, what: 'create' });
  const { commit } = await resolveCommit(context, found, target);
  const move = { ref: tagRef(name), before: NO_COMMIT };
  if (message.trim() === '') return { ...move, after: commit };
  const tagger = signatureOf(context, caller.user);
  const object = tagObject({ commit, name, tagger, message });
  await writeObject(context.git, found.repository.id, object);
  return { ...move, after: object.id };
}
