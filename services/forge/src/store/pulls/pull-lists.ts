import { type Fragment, fragment, type Tx } from '@croft/sql';
import { leftOf, OF_PAGE, type OfPage, type PagePart, withIssues } from '../issues/issue-lists.ts';
import { addSurroundings, peopleOf } from '../issues/issues-around.ts';
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
export interface PullSlice {
  rows: PullCard[];
  /** Ids of those of the page, as issues, that have too much text to be loaded with the others. */
  left: number[];
  total: number;
  people: UserRow[];
}

/** A page of a list of pull requests, or its beginning where that has too much text. */
export async function list(tx: Tx, filter: PullFilter, page: PagePart): Promise<PullSlice> {
  const { repositoryId, state, sort, labelIds, milestoneId, posterId, baseBranch } = filter;
  const found = fragment`:schema.list_pulls(${repositoryId}, ${state}, ${sort}, ${labelIds}::bigint[], ${milestoneId},
    ${posterId}, ${baseBranch}, ${page.limit}, ${page.offset})`;
  return await read(tx, found, page.bytes);
}

/** What is left of a page, without what was deleted meanwhile. */
export async function listLeft(tx: Tx, ids: readonly number[], bytes: number): Promise<PullSlice> {
  return await read(tx, fragment`(select 0 as total, ${ids}::bigint[] as ids)`, bytes);
}

async function read(tx: Tx, found: Fragment, bytes: number): Promise<PullSlice> {
  const rows = await tx.rows<PullWithIssue & ReviewWishes & OfPage>`
    select ${OF_PAGE}, i.*, w.*, p.* from ${found} f ${withIssues(bytes)} left join :schema.pulls p on p.issue_id = i.id
      left join :schema.review_wishes w on w.pull_id = p.id
    order by i.place`;
  const around = rows[0]?.around ?? null;
  const pulls = rows.filter(({ id }) => id !== null);
  return {
    total: rows[0]?.list_total ?? 0,
    rows: addSurroundings(pulls, (row) => row.issue_id, around),
    left: leftOf(rows),
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
