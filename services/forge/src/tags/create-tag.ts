import type { z } from 'zod';
import { checkNewName } from '../branches/create-branch.ts';
import { findWritable } from '../branches/find-writable.ts';
import { moveInTurn } from '../branches/move-refs.ts';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { refExists } from '../failures.ts';
import { readRefIds, tagRef } from '../outside/git/refs.ts';
import { showTag } from './list-tags.ts';
import { type NewTag, planTag } from './plan-tag.ts';
import type { tagSchema } from './tag-json.ts';

/**
 * Makes a tag and shows it.
 * @throws 403, 404, 409 when there is one of its name, 422 also when it is protected, 423
 */
export async function createTag(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
  wanted: NewTag,
): Promise<z.output<typeof tagSchema>> {
  const found = await findWritable(context, caller, path);
  const { id } = found.repository;
  const { name } = wanted;
  checkNewName('TagName', name);
  const prepare = async () => {
    const taken = await readRefIds(context.git, id, [tagRef(name)]);
    if (taken.size > 0) throw refExists('tag', name);
    return { moves: [await planTag(context, found, caller, wanted)], result: undefined };
  };
  await moveInTurn(context, id, caller.userId, prepare, () => refExists('tag', name));
  return await showTag(context, caller, { ...path, tag: name });
}
