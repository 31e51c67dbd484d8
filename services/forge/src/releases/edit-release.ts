import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import * as releases from '../store/repositories/releases.ts';
import { checkRelease } from './create-release.ts';
import { findRelease, findReleaseToWrite, type ReleasePath } from './find-release.ts';
import { presentRelease } from './present-releases.ts';
import type { releaseSchema } from './release-json.ts';
import { saveRelease } from './save-release.ts';

/** What is to be different; empty texts leave what is there, as clients send them for what they do not mean. */
export interface ReleaseEdit {
  tag_name?: string | null | undefined;
  target_commitish?: string | null | undefined;
  name?: string | null | undefined;
  body?: string | null | undefined;
  draft?: boolean | null | undefined;
  prerelease?: boolean | null | undefined;
}

/**
 * Edits a release, publishes a draft, or makes a draft of what was published; whatever is published gets its tag.
 * @throws 403, 404, also for the target of a tag that is to be made, 409 when the tag has another release, 422, 423
 */
export async function editRelease(
  context: Context,
  caller: Caller,
  path: ReleasePath,
  edit: ReleaseEdit,
): Promise<z.output<typeof releaseSchema>> {
  const { release, ...found } = await findReleaseToWrite(context, caller, path);
  const id = await saveRelease(context, caller, found, async (tx) => {
    const current = await releases.findById(tx, found.repository.id, release.id);
    if (current === undefined) throw notFound();
    const fields = {
      tag_name: edit.tag_name || current.tag_name,
      target: edit.target_commitish || current.target,
      name: edit.name || current.name,
      body: edit.body || current.body,
      prerelease: edit.prerelease ?? current.prerelease,
    };
    checkRelease({ tag: fields.tag_name, body: fields.body });
    return { current, fields, draft: edit.draft ?? current.published_at === null, tagMessage: '' };
  });
  const edited = await findRelease(context, caller, { ...path, release: String(id) });
  return await presentRelease(context, caller, edited);
}
