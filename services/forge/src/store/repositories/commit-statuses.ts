import type { Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';

/** What somebody, a build server most often, said of a commit. */
export type CommitStatusRow = Tables['commit_statuses'];

/** A part of a list. */
interface Slice {
  limit: number;
  offset: number;
}

/** Keeps a status; the one before of the same context stays, as history. */
export async function insert(
  tx: Tx,
  status: Pick<
    CommitStatusRow,
    'repository_id' | 'sha' | 'state' | 'context' | 'target_url' | 'description' | 'creator_id'
  >,
): Promise<CommitStatusRow> {
  const row = await tx.row<CommitStatusRow>`
    insert into :schema.commit_statuses
      (repository_id, sha, state, context, target_url, description, creator_id, created_at, updated_at)
    values (${status.repository_id}, ${status.sha}, ${status.state}, ${status.context}, ${status.target_url},
      ${status.description}, ${status.creator_id}, ${tx.now}, ${tx.now})
    returning *`;
  if (row === undefined) throw new Error('insert returned no row');
  return row;
}

/** A status by its id. */
export function findById(tx: Tx, repositoryId: number, id: number): Promise<CommitStatusRow | undefined> {
  return tx.row<CommitStatusRow>`
    select * from :schema.commit_statuses where id = ${id} and repository_id = ${repositoryId}`;
}

/** All statuses of a commit that are in one of the states, a page of them. Times and ids have the same order. */
export function list(
  tx: Tx,
  commit: { repositoryId: number; sha: string },
  { states, oldestFirst }: { states: readonly string[]; oldestFirst: boolean },
  page: Slice,
): Promise<CommitStatusRow[]> {
  const sign = oldestFirst ? 1 : -1;
  return tx.rows<CommitStatusRow>`
    select * from :schema.commit_statuses
    where repository_id = ${commit.repositoryId} and sha = ${commit.sha} and state = any(${states}::text[])
    order by id * ${sign}::int limit ${page.limit} offset ${page.offset}`;
}

/** How many there are in all. */
export async function count(
  tx: Tx,
  commit: { repositoryId: number; sha: string },
  states: readonly string[],
): Promise<number> {
  const row = await tx.row<{ count: number }>`
    select count(*)::int as count from :schema.commit_statuses
    where repository_id = ${commit.repositoryId} and sha = ${commit.sha} and state = any(${states}::text[])`;
  return row?.count ?? 0;
}

/** The latest status of each context, a page of them, newest first. */
export function listLatest(
  tx: Tx,
  commit: { repositoryId: number; sha: string },
  page: Slice,
): Promise<CommitStatusRow[]> {
  return tx.rows<CommitStatusRow>`
    select * from (
      select distinct on (context) * from :schema.commit_statuses
      where repository_id = ${commit.repositoryId} and sha = ${commit.sha} order by context, id desc
    ) latest order by id desc limit ${page.limit} offset ${page.offset}`;
}

/** The latest status of each context of some commits. */
export function listLatestOf(
  tx: Tx,
  repositoryId: number,
  shas: readonly string[],
): Promise<{ sha: string; context: string; state: string }[]> {
  return tx.rows<{ sha: string; context: string; state: string }>`
    select distinct on (sha, context) sha, context, state from :schema.commit_statuses
    where repository_id = ${repositoryId} and sha = any(${shas}::text[]) order by sha, context, id desc`;
}

/** How many contexts a commit has, and the states they are in. */
export async function summarize(
  tx: Tx,
  commit: { repositoryId: number; sha: string },
): Promise<{ contexts: number; states: string[] }> {
  const row = await tx.row<{ contexts: number; states: string[] | null }>`
    select count(*)::int as contexts, array_agg(distinct state) as states from (
      select distinct on (context) state from :schema.commit_statuses
      where repository_id = ${commit.repositoryId} and sha = ${commit.sha} order by context, id desc
    ) latest`;
  return { contexts: row?.contexts ?? 0, states: row?.states ?? [] };
}
