import { fragment, type Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';
import { type IssueRow, reviveSurroundings, type Surroundings } from '../issues/issues.ts';
import type { TeamRow } from '../people/teams.ts';

/** The half of a pull request that is about branches. */
export type PullRow = Tables['pulls'];

/** A pull request with both halves: `id` is its own, `issue_id` the issue's. */
export type PullWithIssue = PullRow & Omit<IssueRow, 'id'>;

/** What following a branch needs of a pull request: none of its words, of which there may be a megabyte. */
export type PullOnBranch = PullRow & Pick<IssueRow, 'number' | 'poster_id' | 'created_at' | 'closed_at'>;

const ON_BRANCH = fragment`i.number, i.poster_id, i.created_at, i.closed_at, p.*`;

/** Who is asked to review a pull request and has not done so. */
export interface ReviewWishes {
  reviewer_ids: number[];
  reviewer_teams: TeamRow[];
  /** How many comments on lines there are. */
  review_comments: number;
}

/** A pull request as answers need it. */
export type PullCard = PullWithIssue & ReviewWishes & Omit<Surroundings, 'pull_id' | 'merged_at'>;

/** The pull request with a number. */
export async function findByNumber(
  tx: Tx,
  repositoryId: number,
  number: number,
): Promise<PullCard | undefined> {
  const row = await tx.row<PullCard & Surroundings>`
    select i.*, s.*, w.*, p.* from :schema.issues i join :schema.pulls p on p.issue_id = i.id
      join :schema.issue_surroundings s on s.issue_id = i.id join :schema.review_wishes w on w.pull_id = p.id
    where i.repository_id = ${repositoryId} and i.number = ${number}`;
  return row && reviveSurroundings(row);
}

/** The branches of a pull request; the head's repository is null when it is deleted. */
export interface Branches {
  repositoryId: number;
  baseBranch: string;
  headRepositoryId: number | null;
  headBranch: string;
  /** Of one that was pushed for review; then poster and topic stand for the head. */
  topic: string | null;
  posterId: number | null;
}

/** The open pull request between the same branches, other than the one given. */
export function findOpenTwin(tx: Tx, branches: Branches, exceptId = 0): Promise<PullRow | undefined> {
  const { topic } = branches;
  if (topic !== null) return findOpenByTopic(tx, { ...branches, topic }, exceptId);
  return tx.row<PullRow>`
    select p.* from :schema.pulls p join :schema.issues i on i.id = p.issue_id
    where p.head_repository_id = ${branches.headRepositoryId} and p.head_branch = ${branches.headBranch}
      and p.repository_id = ${branches.repositoryId} and p.base_branch = ${branches.baseBranch}
      and p.merged_at is null and i.closed_at is null and p.id <> ${exceptId}
    limit 1`;
}

/** The newest open pull request that somebody pushed for review into a branch, by its topic. */
export function findOpenByTopic(
  tx: Tx,
  pushed: { repositoryId: number; baseBranch: string; posterId: number | null; topic: string },
  exceptId = 0,
): Promise<PullWithIssue | undefined> {
  return tx.row<PullWithIssue>`
    select i.*, p.* from :schema.pulls p join :schema.issues i on i.id = p.issue_id
    where p.repository_id = ${pushed.repositoryId} and p.topic = ${pushed.topic}
      and p.base_branch = ${pushed.baseBranch} and i.poster_id = ${pushed.posterId}
      and p.merged_at is null and i.closed_at is null and p.id <> ${exceptId}
    order by p.id desc limit 1`;
}

/**
 * A pull request and whether it may follow its head: in its own repository, or its poster may still read the code there. That
 * is asked for one repository at a time: where it was not, one from elsewhere may not.
 */
export type PullOfHead = PullOnBranch & { may_follow: boolean };

/**
 * Open pull requests whose head is in a repository, or only those from some of its branches or into one repository. One whose
 * ref is still to be written is always among those from some branches.
 */
export function listOpenByHead(
  tx: Tx,
  headRepositoryId: number,
  {
    headBranches = null,
    repositoryId = null,
  }: { headBranches?: readonly string[] | null; repositoryId?: number | null } = {},
): Promise<PullOfHead[]> {
  return tx.rows<PullOfHead>`
    select ${ON_BRANCH}, case when p.repository_id = p.head_repository_id then true
      when ${repositoryId}::bigint is null then false else :schema.may_read_unit(
      coalesce(u.id, 0), coalesce(u.is_admin, false), false, p.head_repository_id, 'code') end as may_follow
    from :schema.pulls p join :schema.issues i on i.id = p.issue_id left join :schema.users u on u.id = i.poster_id
    where p.head_repository_id = ${headRepositoryId} and p.merged_at is null and i.closed_at is null
      and (${headBranches}::text[] is null or p.head_branch = any(${headBranches}::text[])
        or p.written_sha is distinct from p.head_sha)
      and (${repositoryId}::bigint is null or p.repository_id = ${repositoryId}::bigint)
    order by p.id`;
}

/**
 * Whether both its poster and somebody else may read the code of where a pull request has its head. Whose account is gone is
 * nobody, who may read what is public.
 */
export async function mayReadHead(tx: Tx, id: number, userId: number): Promise<boolean> {
  const row = await tx.row<{ refused: boolean }>`
    select bool_or(not :schema.may_read_unit(coalesce(u.id, 0), coalesce(u.is_admin, false), false,
      p.head_repository_id, 'code')) as refused
    from :schema.pulls p join :schema.issues i on i.id = p.issue_id
      cross join lateral unnest(array[i.poster_id, ${userId}::bigint]) as x (id) left join :schema.users u on u.id = x.id
    where p.id = ${id}`;
  return row?.refused === false;
}

/** Open pull requests into any of some branches of a repository. */
export function listOpenByBase(
  tx: Tx,
  repositoryId: number,
  baseBranches: readonly string[],
): Promise<PullOnBranch[]> {
  return tx.rows<PullOnBranch>`
    select ${ON_BRANCH} from :schema.pulls p join :schema.issues i on i.id = p.issue_id
    where p.repository_id = ${repositoryId} and p.base_branch = any(${baseBranches}::text[])
      and p.merged_at is null and i.closed_at is null
    order by p.id`;
}

/** What there is to know of a pull request that was merged from a branch. */
type LastMerged = Pick<PullWithIssue, 'issue_id' | 'head_branch' | 'base_branch' | 'head_sha' | 'closed_at'>;

/** The last pull request within a repository that was merged from each of some branches. */
export function listLastMerged(
  tx: Tx,
  repositoryId: number,
  headBranches: readonly string[],
): Promise<LastMerged[]> {
  return tx.rows<LastMerged>`
    select distinct on (head_branch) issue_id, head_branch, base_branch, head_sha, closed_at
    from :schema.pulls p join :schema.issues i on i.id = p.issue_id
    where p.repository_id = ${repositoryId} and head_repository_id = ${repositoryId}
      and head_branch = any(${headBranches}::text[]) and merged_at is not null
    order by head_branch, merged_at desc`;
}

/**
 * Branches of a repository that people may push to because they may write to the code of where an open pull request from
 * them goes, and its poster lets them.
 */
export async function listLentBranches(tx: Tx, headRepositoryId: number, userId: number): Promise<string[]> {
  const rows = await tx.rows<{ head_branch: string }>`
    select distinct p.head_branch from :schema.pulls p join :schema.issues i on i.id = p.issue_id
      join :schema.repositories r on r.id = p.repository_id
      join :schema.repositories h on h.id = p.head_repository_id
      cross join lateral :schema.access_of(${userId}, r.id, r.owner_id) g
      cross join lateral :schema.access_of(i.poster_id, h.id, h.owner_id) lender
    where p.head_repository_id = ${headRepositoryId} and p.repository_id <> ${headRepositoryId}
      and p.allow_maintainer_edit and p.merged_at is null and i.closed_at is null and g.code >= 2
      and lender.code >= 2`;
  return rows.map(({ head_branch: branch }) => branch);
}

/** How many pull requests other than one, not merged and open, have a branch as head. */
export async function countOpenByHead(
  tx: Tx,
  headRepositoryId: number | null,
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
export function listUnwritten(tx: Tx): Promise<PullOnBranch[]> {
  return tx.rows<PullOnBranch>`
    select ${ON_BRANCH} from :schema.pulls p join :schema.issues i on i.id = p.issue_id
    where p.written_sha is distinct from p.head_sha order by p.id`;
}

/** Whether a pull request has the head branch it had, and nobody is giving that another name right now. */
export async function keepsHeadBranch(tx: Tx, pull: Pick<PullRow, 'id' | 'head_branch'>): Promise<boolean> {
  const row = await tx.row`
    select from :schema.pulls p where p.id = ${pull.id} and p.head_branch = ${pull.head_branch} and not exists (
      select from :schema.pushes m
      where m.repository_id = p.head_repository_id and m.details->'renamed'->>'from' = p.head_branch)`;
  return row !== undefined;
}

/** Adds the branches to an issue that is a pull request. */
export async function insert(
  tx: Tx,
  pull: {
    issueId: number;
    repositoryId: number;
    baseBranch: string;
    headRepositoryId: number | null;
    headBranch: string;
    topic: string | null;
    headSha: string;
    allowMaintainerEdit: boolean;
  },
): Promise<PullRow> {
  const row = await tx.row<PullRow>`
    insert into :schema.pulls (issue_id, repository_id, base_branch, head_repository_id, head_branch, topic, head_sha,
      allow_maintainer_edit)
    values (${pull.issueId}, ${pull.repositoryId}, ${pull.baseBranch}, ${pull.headRepositoryId}, ${pull.headBranch},
      ${pull.topic}::text, ${pull.headSha}, ${pull.allowMaintainerEdit})
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

/** The ref is about to go: unless the pull request goes, too, the next start writes it again. */
export async function markUnwritten(tx: Tx, id: number): Promise<void> {
  await tx.run`update :schema.pulls set written_sha = null where id = ${id}`;
}

/** Another base branch for a pull request that is not merged. */
export async function updateBase(tx: Tx, id: number, baseBranch: string): Promise<void> {
  await tx.run`update :schema.pulls set base_branch = ${baseBranch} where id = ${id} and merged_at is null`;
}

/** Whether people who can write to the base may push to the head. */
export async function updateMaintainerEdit(tx: Tx, id: number, allowed: boolean): Promise<void> {
  await tx.run`update :schema.pulls set allow_maintainer_edit = ${allowed} where id = ${id}`;
}

/** The branches of a pull request, to look for another one between them. */
export function branchesOf(pull: PullOnBranch): Branches {
  return {
    repositoryId: pull.repository_id,
    baseBranch: pull.base_branch,
    headRepositoryId: pull.head_repository_id,
    headBranch: pull.head_branch,
    topic: pull.topic,
    posterId: pull.poster_id,
  };
}
