import type { Tx } from '@croft/sql';
import type { Tables } from '../tables.gen.ts';

/** An issue, or the half of a pull request that is one. */
export type IssueRow = Tables['issues'];

/** An issue as lists and answers need it: with the merge of its pull request. */
export type IssueWithPull = IssueRow & { merged_at: Date | null; pull_id: number | null };

/** What a list of issues is filtered by. */
export interface IssueFilter {
  repositoryId: number;
  state: 'open' | 'closed' | 'all';
  kind: 'issues' | 'pulls' | 'all';
  /** Part of the title or the body, whatever its case; empty for everything. */
  keyword: string;
}

/** The issue or pull request with a number. */
export function findByNumber(
  tx: Tx,
  repositoryId: number,
  number: number,
): Promise<IssueWithPull | undefined> {
  return tx.row<IssueWithPull>`
    select i.*, p.merged_at, p.id as pull_id from :schema.issues i left join :schema.pulls p on p.issue_id = i.id
    where i.repository_id = ${repositoryId} and i.number = ${number}`;
}

/** The same, held against other writers until the transaction ends. */
export function lockById(tx: Tx, id: number): Promise<IssueWithPull | undefined> {
  return tx.row<IssueWithPull>`
    select i.*, p.merged_at, p.id as pull_id from :schema.issues i left join :schema.pulls p on p.issue_id = i.id
    where i.id = ${id} for update of i`;
}

/** A page of a list, newest first. */
export function list(
  tx: Tx,
  filter: IssueFilter,
  page: { limit: number; offset: number },
): Promise<IssueWithPull[]> {
  return tx.rows<IssueWithPull>`
    select i.*, p.merged_at, p.id as pull_id from :schema.issues i left join :schema.pulls p on p.issue_id = i.id
    where i.repository_id = ${filter.repositoryId}
      and (${filter.state}::text = 'all' or (i.closed_at is not null) = (${filter.state}::text = 'closed'))
      and (${filter.kind}::text = 'all' or i.is_pull = (${filter.kind}::text = 'pulls'))
      and (${filter.keyword}::text = '' or strpos(lower(i.title || E'\n' || i.body), lower(${filter.keyword}::text)) > 0)
    order by i.created_at desc, i.id desc limit ${page.limit} offset ${page.offset}`;
}

/** How many the whole list has. */
export async function count(tx: Tx, filter: IssueFilter): Promise<number> {
  const row = await tx.row<{ count: number }>`
    select count(*) from :schema.issues i
    where i.repository_id = ${filter.repositoryId}
      and (${filter.state}::text = 'all' or (i.closed_at is not null) = (${filter.state}::text = 'closed'))
      and (${filter.kind}::text = 'all' or i.is_pull = (${filter.kind}::text = 'pulls'))
      and (${filter.keyword}::text = '' or strpos(lower(i.title || E'\n' || i.body), lower(${filter.keyword}::text)) > 0)`;
  return row?.count ?? 0;
}

/** Adds an issue under a number that was taken in the same transaction. */
export async function insert(
  tx: Tx,
  issue: {
    repositoryId: number;
    number: number;
    isPull: boolean;
    posterId: number;
    title: string;
    body: string;
    ref: string;
    deadlineAt: Date | undefined;
    closed: boolean;
  },
): Promise<IssueRow> {
  const row = await tx.row<IssueRow>`
    insert into :schema.issues (repository_id, number, is_pull, poster_id, title, body, ref, deadline_at, closed_at,
      created_at, updated_at)
    values (${issue.repositoryId}, ${issue.number}, ${issue.isPull}, ${issue.posterId}, ${issue.title}, ${issue.body},
      ${issue.ref}, ${issue.deadlineAt ?? null}, ${issue.closed ? tx.now : null}, ${tx.now}, ${tx.now})
    returning *`;
  if (row === undefined) throw new Error('insert returned no row');
  return row;
}

/** What may change about an issue, as it will be. */
export type IssueChange = Pick<IssueRow, 'title' | 'body' | 'ref' | 'deadline_at' | 'closed_at'>;

/** Writes the changed issue. */
export async function update(tx: Tx, id: number, change: IssueChange): Promise<void> {
  await tx.run`
    update :schema.issues set title = ${change.title}, body = ${change.body}, ref = ${change.ref},
      deadline_at = ${change.deadline_at}, closed_at = ${change.closed_at}, updated_at = ${tx.now}
    where id = ${id}`;
}

/** Closes an open issue; false when it was closed. */
export async function close(tx: Tx, id: number): Promise<boolean> {
  return (
    (await tx.run`
    update :schema.issues set closed_at = ${tx.now}, updated_at = ${tx.now} where id = ${id} and closed_at is null`) >
    0
  );
}

/** Notes that something about an issue changed. */
export async function touch(tx: Tx, id: number): Promise<void> {
  await tx.run`update :schema.issues set updated_at = ${tx.now} where id = ${id}`;
}
