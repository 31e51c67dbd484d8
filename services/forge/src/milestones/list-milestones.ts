import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { findIssueHome } from '../labels/find-label-home.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import { readState } from '../rules/issues/list-filter.ts';
import * as milestones from '../store/issues/milestones.ts';
import { milestoneJson } from './milestone-json.ts';

/** A page of the milestones of a repository, by state and part of the title. */
export async function listMilestones(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string },
  query: Partial<Record<'state' | 'name' | 'page' | 'limit', string | undefined>>,
): Promise<ListPage> {
  const { repository } = await findIssueHome(context, viewer, path, 'read');
  const page = pageOf(context, query);
  const filter = { repositoryId: repository.id, state: readState(query.state), name: query.name ?? '' };
  const { rows, total } = await milestones.list(context.database.autocommit(), filter, page);
  return { page, total, items: rows.map(milestoneJson) };
}
