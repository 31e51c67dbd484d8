import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import { viewerOf } from '../rules/access/permission.ts';
import { search } from '../store/repositories/repository-search.ts';
import { accessTo } from './find-repository.ts';
import { presentRepositories } from './present-repositories.ts';
import type { RepositoryFilter } from './repository-filter.ts';

/** A page of the repositories that a filter picks among those the viewer may know of. */
export async function listRepositories(
  context: Context,
  viewer: Caller | undefined,
  filter: RepositoryFilter,
  query: { page?: string | undefined; limit?: string | undefined },
): Promise<ListPage> {
  const page = pageOf(context, query);
  const { total, rows } = await search(context.database.autocommit(), viewerOf(viewer), filter, page);
  // The statement picked by the same rules: what it found is there to see.
  const visible = rows.flatMap((row) => accessTo(row, viewer) ?? []);
  return { page, total, items: await presentRepositories(context, viewer, visible) };
}

/** How lists without an order of their own are sorted: newest first. */
export const NEWEST_FIRST = { sort: 'id', descending: true } as const;
