import type { Tx } from '@croft/sql';
import { addSurroundings, type IssuesAround, peopleOf } from '../issues/issues-around.ts';
import type { UserRow } from '../people/users.ts';
import type { PullCard, PullWithIssue, ReviewWishes } from './pulls.ts';

/** What a list of pull requests is filtered and ordered by; as in the contract. */
export interface PullFilter {
  repositoryId: number;
  state: 'open' | 'closed' | 'all';
  sort: string;
  /** Ids; any of them. */
  labelIds: readonly number[];
  /** 0 for everything. */
  milestoneId: number;
  /** 0 for everybody. */
  posterId: number;
  /** Empty for every branch. */
  baseBranch: string;
}

/** A page of a list of pull requests, how many the whole has, and who wrote them and whom they are assigned to. */
export async function list(
  tx: Tx,
  filter: PullFilter,
  page: { limit: number; offset: number },
): Promise<{ rows: PullCard[]; total: number; people: UserRow[] }> {
  const { repositoryId, state, sort, labelIds, milestoneId, posterId, baseBranch } = filter;
  const rows = await tx.rows<
    PullWithIssue & ReviewWishes & { list_total: number; around: IssuesAround | null }
  >`
    select f.total as list_total, case when l.place = 1 then :schema.issues_around(f.ids) end as around, i.*, w.*, p.*
    from :schema.list_pulls(${repositoryId}, ${state}, ${sort}, ${labelIds}::bigint[], ${milestoneId}, ${posterId},
        ${baseBranch}, ${page.limit}, ${page.offset}) f
      left join lateral unnest(f.ids) with ordinality l (id, place) on true
      left join :schema.issues i on i.id = l.id left join :schema.pulls p on p.issue_id = i.id
      left join :schema.review_wishes w on w.pull_id = p.id
    order by l.place`;
  const around = rows[0]?.around ?? null;
  const pulls = rows.filter(({ id }) => id !== null);
  return {
    total: rows[0]?.list_total ?? 0,
    rows: addSurroundings(pulls, (row) => row.issue_id, around),
    people: peopleOf(around),
  };
}

/** Two branches as a request names them. */
export interface BranchPair {
  repositoryId: number;
  baseBranch: string;
  /** Whose repository the head is in, and its name where that is told; undefined is the repository itself. */
  owner: string | undefined;
  repo: string | undefined;
  headBranch: string;
}

/** The number of the newest pull request between two branches. */
export async function findNewest(tx: Tx, pair: BranchPair): Promise<number | undefined> {
  const { owner = null, repo = null } = pair;
  const row = await tx.row<{ number: number }>`
    select i.number from :schema.pulls p join :schema.issues i on i.id = p.issue_id
      left join :schema.repositories h on h.id = p.head_repository_id left join :schema.users o on o.id = h.owner_id
    where p.repository_id = ${pair.repositoryId} and p.base_branch = ${pair.baseBranch}
      and p.head_branch = ${pair.headBranch}
      and case when ${owner}::text is null then p.head_repository_id = p.repository_id
        else o.login_key = lower(${owner}::text) and (${repo}::text is null or h.name_key = lower(${repo}::text)) end
    order by p.id desc limit 1`;
  return row?.number;
}
