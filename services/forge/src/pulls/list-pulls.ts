import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { readState } from '../rules/list-filter.ts';
import * as pulls from '../store/pulls.ts';
import { presentPulls } from './present-pulls.ts';

/** What a list of pull requests can be asked for. */
export interface PullQuery {
  state?: string | undefined;
  sort?: string | undefined;
  page?: string | undefined;
  limit?: string | undefined;
}

/** A page of the pull requests of a repository. */
export async function listPulls(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string },
  query: PullQuery,
): Promise<ListPage> {
  const { repository } = await findRepository(context, viewer, path);
  const page = pageOf(context, query);
  const filter = { repositoryId: repository.id, state: readState(query.state), sort: query.sort ?? '' };
  const tx = context.database.autocommit();
  const [rows, total] = await Promise.all([pulls.list(tx, filter, page), pulls.count(tx, filter)]);
  return { page, total, items: await presentPulls(context, viewer, repository, rows) };
}
