import type { Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';
import { type IssueRow, reviveSurroundings, type Surroundings } from '../issues/issues.ts';

/** The half of a pull request that is about branches. */
export type PullRow = Tables['pulls'];

/** A pull request with both halves: `id` is its own, `issue_id` the issue's. */
export type PullWithIssue = PullRow & Omit<IssueRow, 'id'>;

/** A pull request as answers need it. */
export type PullCard = PullWithIssue & Omit<Surroundings, 'pull_id' | 'merged_at'>;

/** The pull request with a number. */
export async function findByNumber(
  tx: Tx,
  repositoryId: number,
  number: number,
): Promise<PullCard | undefined> {
  const row = await tx.row<PullCard & Surroundings>`
    select i.*, s.*, p.* from :schema.issues i join :schema.pulls p on p.issue_id = i.id
      join :schema.issue_surroundings s on s.issue_id = i.id
    where i.repository_id = ${repositoryId} and i.number = ${number}`;
  return row && reviveSurroundings(row);
}

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

/** A page of a list of pull requests, and how many the whole has. */
export async function list(
  tx: Tx,
  filter: PullFilter,
  page: { limit: number; offset: number },
): Promise<{ rows: PullCard[]; total: number }> {
  const rows = await tx.rows<PullCard & Surroundings & { list_total: number }>`
    with listed as (
      select i.id, row_number() over (order by
        case ${filter.sort}::text
          when 'oldest' then extract(epoch from i.created_at)
          when 'recentupdate' then -extract(epoch from i.updated_at)
          when 'leastupdate' then extract(epoch from i.updated_at)
          when 'recentclose' then -extract(epoch from coalesce(i.closed_at, '-infinity'))
          when 'mostcomment' then -i.comments
          when 'leastcomment' then i.comments
          else -extract(epoch from i.created_at)
        end,
        case when ${filter.sort}::text = 'oldest' then i.id else -i.id end) as place
      from :schema.issues i join :schema.pulls p on p.issue_id = i.id
      where i.repository_id = ${filter.repositoryId} and i.is_pull
        and (${filter.state}::text = 'all' or (i.closed_at is not null) = (${filter.state}::text = 'closed'))
        and (cardinality(${filter.labelIds}::bigint[]) = 0 or exists (select from :schema.issue_labels x
          where x.issue_id = i.id and x.label_id = any(${filter.labelIds}::bigint[])))
        and (${filter.milestoneId}::bigint = 0 or i.milestone_id = ${filter.milestoneId}::bigint)
        and (${filter.posterId}::bigint = 0 or i.poster_id = ${filter.posterId}::bigint)
        and (${filter.baseBranch}::text = '' or p.base_branch = ${filter.baseBranch}::text)
    )
    select (select count(*) from listed) as list_total, i.*, s.*, p.*
    from (values (1)) as one
      left join (select * from listed order by place limit ${page.limit} offset ${page.offset}) l on true
      left join :schema.issues i on i.id = l.id left join :schema.pulls p on p.issue_id = i.id
      left join :schema.issue_surroundings s on s.issue_id = i.id
    order by l.place`;
  return {
    total: rows[0]?.list_total ?? 0,
    rows: rows.filter(({ id }) => id !== null).map(reviveSurroundings),
  };
}

/** The open pull request between the same branches, other than the one given. */
export function findOpenTwin(
  tx: Tx,
  branches: { repositoryId: number; baseBranch: string; headRepositoryId: number; headBranch: string },
  exceptId = 0,
): Promise<{ number: number } | undefined> {
  return tx.row<{ number: number }>`
    select i.number from :schema.pulls p join :schema.issues i on i.id = p.issue_id
    where p.head_repository_id = ${branches.headRepositoryId} and p.head_branch = ${branches.headBranch}
      and p.repository_id = ${branches.repositoryId} and p.base_branch = ${branches.baseBranch}
      and p.merged_at is null and i.closed_at is null and p.id <> ${exceptId}
    limit 1`;
}

/** Open pull requests whose head is in a repository, or only those from one of its branches. */
export function listOpenByHead(
  tx: Tx,
  headRepositoryId: number,
  headBranch?: string,
): Promise<PullWithIssue[]> {
  return tx.rows<PullWithIssue>`
    select i.*, p.* from :schema.pulls p join :schema.issues i on i.id = p.issue_id
    where p.head_repository_id = ${headRepositoryId} and p.merged_at is null and i.closed_at is null
      and (${headBranch ?? null}::text is null or p.head_branch = ${headBranch ?? null}::text)
    order by p.id`;
}

/** How many pull requests other than one, not merged and open, have a branch as head. */
export async function countOpenByHead(
  tx: Tx,
  headRepositoryId: number,
  headBranch: string,
  exceptId: number,
): Promise<number> {
  const row = await tx.row<{ count: number }>`
    select count(*) from :schema.pulls p join :schema.issues i on i.id = p.issue_id
    where p.head_repository_id = ${headRepositoryId} and p.head_branch = ${headBranch} and p.id <> ${exceptId}
      and p.merged_at is null and i.closed_at is null`;
  return row?.count ?? 0;
}

/** The pull request of a merge that is to be settled. */
export function findById(tx: Tx, id: number): Promise<PullWithIssue | undefined> {
  return tx.row<PullWithIssue>`
    select i.*, p.* from :schema.pulls p join :schema.issues i on i.id = p.issue_id where p.id = ${id}`;
}

/** Pull requests whose ref is not where it should be. */
export function listUnwritten(tx: Tx): Promise<PullWithIssue[]> {
  return tx.rows<PullWithIssue>`
    select i.*, p.* from :schema.pulls p join :schema.issues i on i.id = p.issue_id
    where p.written_sha is distinct from p.head_sha order by p.id`;
}

/** Adds the branches to an issue that is a pull request. */
export async function insert(
  tx: Tx,
  pull: {
    issueId: number;
    repositoryId: number;
    baseBranch: string;
    headRepositoryId: number;
    headBranch: string;
    headSha: string;
  },
): Promise<PullRow> {
  const row = await tx.row<PullRow>`
    insert into :schema.pulls (issue_id, repository_id, base_branch, head_repository_id, head_branch, head_sha)
    values (${pull.issueId}, ${pull.repositoryId}, ${pull.baseBranch}, ${pull.headRepositoryId}, ${pull.headBranch},
      ${pull.headSha})
    returning *`;
  if (row === undefined) throw new Error('insert returned no row');
  return row;
}

/** The head moved: the ref of the pull request has to follow. */
export async function moveHead(tx: Tx, id: number, headSha: string): Promise<void> {
  await tx.run`update :schema.pulls set head_sha = ${headSha} where id = ${id} and merged_at is null`;
}

/** The ref followed. */
export async function markWritten(tx: Tx, id: number, sha: string): Promise<void> {
  await tx.run`update :schema.pulls set written_sha = ${sha} where id = ${id}`;
}

/** Another base branch for a pull request that is not merged. */
export async function updateBase(tx: Tx, id: number, baseBranch: string): Promise<void> {
  await tx.run`update :schema.pulls set base_branch = ${baseBranch} where id = ${id} and merged_at is null`;
}

/** Whether people who can write to the base may push to the head. */
export async function updateMaintainerEdit(tx: Tx, id: number, allowed: boolean): Promise<void> {
  await tx.run`update :schema.pulls set allow_maintainer_edit = ${allowed} where id = ${id}`;
}

/** Merged into a branch; false when it was already, or has another base by now. */
export async function markMerged(
  tx: Tx,
  merge: {
    pullId: number;
    baseBranch: string;
    mergedBy: number;
    commitSha: string;
    headSha: string;
    mergeBase: string;
    /** Whether its ref is there; else it says so, and the next start writes it. */
    headWritten: boolean;
    at: Date;
  },
): Promise<boolean> {
  const changed = await tx.run`
    update :schema.pulls set merged_at = ${merge.at}, merged_by = ${merge.mergedBy}, merge_commit_sha = ${merge.commitSha},
      merge_base = ${merge.mergeBase}, head_sha = ${merge.headSha},
      written_sha = case when ${merge.headWritten}::boolean then ${merge.headSha} else written_sha end
    where id = ${merge.pullId} and base_branch = ${merge.baseBranch} and merged_at is null`;
  return changed > 0;
}

/** The branches of a pull request, to look for another one between them. */
export function branchesOf(pull: PullRow): Parameters<typeof findOpenTwin>[1] {
  return {
    repositoryId: pull.repository_id,
    baseBranch: pull.base_branch,
    headRepositoryId: pull.head_repository_id,
    headBranch: pull.head_branch,
  };
}
