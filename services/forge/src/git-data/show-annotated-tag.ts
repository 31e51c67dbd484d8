import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { describeObject, readObject } from '../outside/git/reading/objects.ts';
import { parseTag } from '../outside/git/reading/parse-commit.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { readObjectId } from '../rules/git/revision.ts';
import { annotatedTagJson, type annotatedTagSchema } from '../tags/tag-json.ts';

/** An annotated tag by its own id, which is not the commit's. */
export async function showAnnotatedTag(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string; sha: string },
): Promise<z.output<typeof annotatedTagSchema>> {
  const { git, links } = context;
  const found = await findRepository(context, viewer, path, 'code');
  const id = readObjectId(path.sha);
  const info = id === undefined ? undefined : await describeObject(git, found.repository.id, `${id}^{tag}`);
  const object = info?.type === 'tag' ? await readObject(git, found.repository.id, info.id) : undefined;
  if (object === undefined) throw notFound('the tag does not exist');
  return annotatedTagJson(parseTag(object), found, links);
}
