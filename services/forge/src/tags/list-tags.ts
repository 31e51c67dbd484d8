import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import { type ListedRef, listRefs } from '../outside/git/reading/list-refs.ts';
import { describeObjects, readObjects } from '../outside/git/reading/objects.ts';
import { parseCommit, parseTag } from '../outside/git/reading/parse-commit.ts';
import { findRepository, type VisibleRepository } from '../repositories/find-repository.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
import { tagJson, type tagSchema } from './tag-json.ts';

const FOLDER = 'refs/tags/';

/** A page of the tags, newest first; tags of something else than commits are not among them. */
export async function listTags(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string },
  query: { page?: string | undefined; limit?: string | undefined },
): Promise<ListPage> {
  const found = await findRepository(context, viewer, path, 'code');
  const page = pageOf(context, query);
  const wanted = { ...page, newestFirst: true };
  const { refs, total } = await listRefs(context.git, found.repository.id, FOLDER, wanted, isOfCommit);
  return { page, total, items: await presentTags(context, found, refs) };
}

/** A single tag. */
export async function showTag(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string; tag: string },
): Promise<z.output<typeof tagSchema>> {
  const found = await findRepository(context, viewer, path, 'code');
  const ref = `${FOLDER}${path.tag}`;
  const { refs } = isBranchName(path.tag)
    ? await listRefs(context.git, found.repository.id, ref, { offset: 0, limit: 1 }, (one) => one.ref === ref)
    : { refs: [] };
  const [shown] = await presentTags(context, found, refs);
  if (shown === undefined) throw notFound('the tag does not exist');
  return shown;
}

/** A tag of a tag is one as well, unless it ends elsewhere, which shows when it is followed. */
function isOfCommit({ type, taggedType }: ListedRef): boolean {
  return type === 'commit' || taggedType === 'commit' || taggedType === 'tag';
}

async function presentTags(
  { git, links }: Context,
  found: VisibleRepository,
  refs: readonly ListedRef[],
): Promise<z.output<typeof tagSchema>[]> {
  const repositoryId = found.repository.id;
  const annotated = refs.filter(({ type }) => type === 'tag').map(({ id }) => id);
  const followed = await describeObjects(
    git,
    repositoryId,
    annotated.map((id) => `${id}^{commit}`),
  );
  const commitOf = new Map(annotated.map((id, index) => [id, followed[index]?.id]));
  const ids = refs.flatMap(({ id }) => [id, commitOf.get(id) ?? id]);
  const objects = await readObjects(git, repositoryId, [...new Set(ids)]);
  const byId = new Map(objects.flatMap((object) => (object === undefined ? [] : [[object.id, object]])));
  return refs.flatMap(({ ref, id }) => {
    const commit = byId.get(commitOf.get(id) ?? id);
    const annotation = byId.get(id);
    if (commit?.type !== 'commit') return [];
    const parts = {
      commit: parseCommit(commit),
      annotation: annotation?.type === 'tag' ? parseTag(annotation) : undefined,
    };
    return [tagJson(ref.slice(FOLDER.length), parts, found, links)];
  });
}
