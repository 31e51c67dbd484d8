import type { z } from 'zod';
import { checkNewName } from '../branches/create-branch.ts';
import { findWritable } from '../branches/find-writable.ts';
import { moveInTurn } from '../branches/move-refs.ts';
import type { Caller } from '../caller/caller.ts';
import { resolveCommit } from '../commits/resolve-commit.ts';
import type { Context } from '../context.ts';
import { refExists } from '../failures.ts';
import { tagObject, writeObject } from '../outside/git/objects.ts';
import { NO_COMMIT, readRefIds, tagRef } from '../outside/git/refs.ts';
import { signatureOf } from '../users/signature-of.ts';
import { showTag } from './list-tags.ts';
import type { tagSchema } from './tag-json.ts';

/** A tag that is to be. */
export interface NewTag {
  name: string;
  /** With one, the tag is an object of its own that says who made it. */
  message: string;
  /** What names a commit; empty for the default branch. */
  target: string;
}

/** Makes a tag and shows it. */
export async function createTag(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
  { name, message, target }: NewTag,
): Promise<z.output<typeof tagSchema>> {
  const { git } = context;
  const found = await findWritable(context, caller, path);
  const { id } = found.repository;
  checkNewName('TagName', name);
  const { commit } = await resolveCommit(context, found, target);
  const tagger = signatureOf(context, caller.user);
  const object = message.trim() === '' ? undefined : tagObject({ commit, name, tagger, message });
  const prepare = async () => {
    const taken = await readRefIds(git, id, [tagRef(name)]);
    if (taken.size > 0) throw refExists('tag', name);
    if (object !== undefined) await writeObject(git, id, object);
    return {
      moves: [{ ref: tagRef(name), before: NO_COMMIT, after: object?.id ?? commit }],
      result: undefined,
    };
  };
  await moveInTurn(context, id, caller.userId, prepare, () => refExists('tag', name));
  return await showTag(context, caller, { ...path, tag: name });
}
