import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import { addressesOf } from '../commits/commit-json.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { describeObject } from '../outside/git/reading/objects.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { readObjectId } from '../rules/git/revision.ts';
import { readBlob } from './read-blob.ts';

/** A blob on the wire; without content when it is too large. */
export const blobSchema = z.object({
  content: z.string().nullable(),
  encoding: z.string().nullable(),
  url: z.string(),
  sha: z.string(),
  size: z.int(),
});

/** A blob by its id. */
export async function showBlob(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string; sha: string },
): Promise<z.output<typeof blobSchema>> {
  const { git, links } = context;
  const found = await findRepository(context, viewer, path, 'code');
  const id = readObjectId(path.sha);
  const info = id === undefined ? undefined : await describeObject(git, found.repository.id, `${id}^{blob}`);
  if (info === undefined) throw notFound('the blob does not exist');
  const content = await readBlob(context, found.repository.id, info.id);
  return {
    content: content?.toString('base64') ?? null,
    encoding: content === undefined ? null : 'base64',
    url: addressesOf(found, links).blob(info.id),
    sha: info.id,
    size: info.size,
  };
}
