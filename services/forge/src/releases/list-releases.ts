import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
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
  const { rows, total } = await releases.list(context.database.autocommit(), filter, page);
  return { page, total, items: await presentReleases(context, viewer, found, rows) };
}
