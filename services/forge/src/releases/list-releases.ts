import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { type ListPage, loadRest, PART_BYTES, pageOf } from '../list-answer.ts';
import { mayWrite } from '../repositories/find-repository.ts';
import { readBoolean } from '../rules/requests/read-boolean.ts';
import * as releases from '../store/repositories/releases.ts';
import { findWithReleases } from './find-release.ts';
import { presentReleases } from './present-releases.ts';

/** A page of the releases of a repository, newest first; drafts are neither shown nor counted to whoever may not write. */
export async function listReleases(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string },
  query: Partial<Record<'draft' | 'pre-release' | 'page' | 'limit', string | undefined>>,
): Promise<ListPage> {
  const found = await findWithReleases(context, viewer, path);
  const page = pageOf(context, query);
  const filter = {
    repositoryId: found.repository.id,
    withDrafts: mayWrite(found, 'code'),
    draft: readBoolean(query.draft),
    prerelease: readBoolean(query['pre-release']),
  };
  const tx = context.database.autocommit();
  const slice = await releases.list(tx, filter, { ...page, bytes: PART_BYTES });
  const present = ({ rows }: typeof slice) => presentReleases(context, viewer, found, rows);
  const load = (ids: readonly number[]) => releases.listLeft(tx, filter, ids, PART_BYTES);
  return { page, total: slice.total, items: await present(slice), rest: loadRest(slice, load, present) };
}
