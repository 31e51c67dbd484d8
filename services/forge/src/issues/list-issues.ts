import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { type ListPage, loadRest, PART_BYTES, pageOf } from '../list-answer.ts';
import { findRepository, mayRead } from '../repositories/find-repository.ts';
import { viewerOf } from '../rules/access/permission.ts';
import { countForLink, readFilter } from '../rules/issues/list-filter.ts';
import * as issueLists from '../store/issues/issue-lists.ts';
import type { IssueWithPull } from '../store/issues/issues.ts';
import * as users from '../store/people/users.ts';
import { inSearchTurn } from './in-search-turn.ts';
import { presentIssues } from './present-issues.ts';

/** What every list of issues can be asked for. */
export interface IssueQuery {
  state?: string | undefined;
  labels?: string | undefined;
  milestones?: string | undefined;
  q?: string | undefined;
  type?: string | undefined;
  since?: string | undefined;
  before?: string | undefined;
  page?: string | undefined;
  limit?: string | undefined;
}

/** What the list of a repository can be asked for besides: names of people. */
export interface RepositoryIssueQuery extends IssueQuery {
  created_by?: string | undefined;
  assigned_by?: string | undefined;
  mentioned_by?: string | undefined;
}

/**
 * A page of the issues and pull requests of a repository, newest first.
 * @throws 404, also for a person nobody knows, 422 for a time that is none or a keyword that is too long, 503 when too
 *   many search
 */
export async function listIssues(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string },
  query: RepositoryIssueQuery,
): Promise<ListPage> {
  const found = await findRepository(context, viewer, path);
  const { repository } = found;
  const [issues, pulls] = [mayRead(found, 'issues'), mayRead(found, 'pulls')];
  if (!issues && !pulls) throw notFound();
  const page = pageOf(context, query);
  const filter = { ...readFilter(query), ...(await namedPeople(context, viewer, query)) };
  const scope = { repositoryId: repository.id, ownerId: repository.owner_id, issues, pulls };
  const tx = context.database.autocommit();
  const slice = await inSearchTurn(filter, () =>
    issueLists.listInRepository(tx, scope, filter, { ...page, bytes: PART_BYTES }),
  );
  const { total } = slice;
  const present = (part: issueLists.IssueSlice<IssueWithPull>) =>
    presentIssues(context, viewer, found, part.rows, part.people);
  const load = (ids: readonly number[]) => issueLists.listLeft(tx, ids, PART_BYTES);
  return {
    page,
    total,
    linked: issues ? countForLink(filter.state, repository) : total,
    items: await present(slice),
    rest: loadRest(slice, load, present),
  };
}

async function namedPeople(
  { database }: Context,
  viewer: Caller | undefined,
  query: RepositoryIssueQuery,
): Promise<Pick<issueLists.IssueFilter, 'createdBy' | 'assignedBy' | 'mentioned'>> {
  const logins = [query.created_by, query.assigned_by, query.mentioned_by].filter((login) => !!login);
  const people =
    logins.length === 0
      ? []
      : await users.listVisible(
          database.autocommit(),
          logins.filter((login) => login !== undefined),
          viewerOf(viewer),
        );
  const find = (login: string | undefined) => {
    if (!login) return undefined;
    const user = people.find(({ login_key: key }) => key === login.toLowerCase());
    if (user === undefined) throw notFound(`user does not exist [uid: 0, name: ${login}]`);
    return user;
  };
  const [creator, assignee] = [find(query.created_by), find(query.assigned_by)];
  const mentioned = find(query.mentioned_by);
  return {
    createdBy: creator?.id ?? null,
    assignedBy: assignee?.id ?? null,
    mentioned: mentioned?.login ?? '',
  };
}
