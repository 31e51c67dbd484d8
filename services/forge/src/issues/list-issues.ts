import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { countForLink, readKeyword, readKind, readState } from '../rules/list-filter.ts';
import * as issues from '../store/issues.ts';
import { presentIssues } from './present-issues.ts';

/** What a list of issues can be asked for. */
export interface IssueQuery {
  state?: string | undefined;
  q?: string | undefined;
  type?: string | undefined;
  page?: string | undefined;
  limit?: string | undefined;
}

/** A page of the issues and pull requests of a repository, newest first. */
export async function listIssues(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string },
  query: IssueQuery,
): Promise<ListPage> {
  const { repository } = await findRepository(context, viewer, path);
  const page = pageOf(context, query);
  const filter = {
    repositoryId: repository.id,
    state: readState(query.state),
    kind: readKind(query.type),
    keyword: readKeyword(query.q),
  };
  const tx = context.database.autocommit();
  const [rows, total] = await Promise.all([issues.list(tx, filter, page), issues.count(tx, filter)]);
  const items = await presentIssues(context, viewer, repository, rows);
  return { page, total, linked: countForLink(filter.state, repository), items };
}
