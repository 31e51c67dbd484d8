import type { Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';
import type { PullWithIssue } from './pulls.ts';

/** A pull request in the queue of its base branch. */
export type QueueRow = Tables['merge_queue'];

/** The same with the pull request it is about. */
export interface QueueEntry {
  row: QueueRow;
  pull: PullWithIssue;
}

/** Puts an open pull request at the end, in place of an entry that has ended; false when it is in the queue already, or no longer open with that base. */
export async function insert(
  tx: Tx,
  entry: Pick<
    QueueRow,
    'pull_id' | 'base_branch' | 'queued_by' | 'style' | 'title' | 'message' | 'delete_branch' | 'head_sha'
  >,
): Promise<boolean> {
  const inserted = await tx.run`
    insert into :schema.merge_queue (pull_id, repository_id, base_branch, queued_by, style, title, message, delete_branch,
      head_sha, queued_at)
    select p.id, p.repository_id, p.base_branch, ${entry.queued_by}, ${entry.style}, ${entry.title}, ${entry.message},
      ${entry.delete_branch}, ${entry.head_sha}, ${tx.now}
    from :schema.pulls p join :schema.issues i on i.id = p.issue_id
    where p.id = ${entry.pull_id} and p.base_branch = ${entry.base_branch} and p.merged_at is null
      and i.closed_at is null
    on conflict (pull_id) do update set id = default, queued_by = excluded.queued_by, style = excluded.style,
      title = excluded.title, message = excluded.message, delete_branch = excluded.delete_branch,
      head_sha = excluded.head_sha, queued_at = excluded.queued_at, ended = false,
      onto_sha = null, merge_base = null, commit_sha = null, made_at = null
      where merge_queue.ended and merge_queue.base_branch = excluded.base_branch`;
  return inserted > 0;
}

/** The entry of a pull request that is closed or gets another base ends: the queue sends it away, whatever it is by then. */
export async function end(tx: Tx, issueId: number): Promise<void> {
  await tx.run`
    update :schema.merge_queue q set ended = true from :schema.pulls p where p.id = q.pull_id and p.issue_id = ${issueId}`;
}

/** The entry of a pull request. */
export function findByPull(tx: Tx, pullId: number): Promise<QueueRow | undefined> {
  return tx.row<QueueRow>`select * from :schema.merge_queue where pull_id = ${pullId}`;
}

/** The first of the queue of a branch, in its order; without those that are merged already. */
export function list(tx: Tx, repositoryId: number, branch: string, limit: number): Promise<QueueEntry[]> {
  return listWhere(tx, { repositoryId, branch, merged: false }, { limit, offset: 0 });
}

/**
 * The first of a queue, wherever they wait in it, that by their rows have no business there any more: closed, into another branch, or
 * pushed to.
 */
export async function listGone(
  tx: Tx,
  repositoryId: number,
  branch: string,
  limit: number,
): Promise<QueueEntry[]> {
  const rows = await tx.rows<QueueRow>`
    select q.* from :schema.merge_queue q join :schema.pulls p on p.id = q.pull_id
      join :schema.issues i on i.id = p.issue_id
    where q.repository_id = ${repositoryId} and q.base_branch = ${branch} and p.merged_at is null
      and (q.ended or i.closed_at is not null or p.base_branch <> q.base_branch or p.head_sha <> q.head_sha)
    order by q.id limit ${limit}`;
  return await withPulls(tx, rows);
}

/** Those that were merged and are still to be taken out. */
export function listLanded(tx: Tx, repositoryId: number, branch: string): Promise<QueueEntry[]> {
  return listWhere(tx, { repositoryId, branch, merged: true }, { limit: 1000, offset: 0 });
}

/** A page of the queue, and how many wait in all. */
export async function listPage(
  tx: Tx,
  repositoryId: number,
  branch: string,
  page: { limit: number; offset: number },
): Promise<{ entries: QueueEntry[]; total: number }> {
  const counted = await tx.row<{ total: number }>`
    select count(*)::int as total from :schema.merge_queue q join :schema.pulls p on p.id = q.pull_id
    where q.repository_id = ${repositoryId} and q.base_branch = ${branch} and p.merged_at is null`;
  const entries = await listWhere(tx, { repositoryId, branch, merged: false }, page);
  return { entries, total: counted?.total ?? 0 };
}

/** Those that are to be merged in somebody's name, of all repositories; without those that are merged already. */
export async function listQueuedBy(tx: Tx, userId: number): Promise<QueueEntry[]> {
  const rows =
    await tx.rows<QueueRow>`select * from :schema.merge_queue where queued_by = ${userId} order by id`;
  return (await withPulls(tx, rows)).filter(({ pull }) => pull.merged_at === null);
}

async function listWhere(
  tx: Tx,
  { repositoryId, branch, merged }: { repositoryId: number; branch: string; merged: boolean },
  page: { limit: number; offset: number },
): Promise<QueueEntry[]> {
  const rows = await tx.rows<QueueRow>`
    select q.* from :schema.merge_queue q join :schema.pulls p on p.id = q.pull_id
    where q.repository_id = ${repositoryId} and q.base_branch = ${branch}
      and (p.merged_at is not null) = ${merged}::boolean
    order by q.id limit ${page.limit} offset ${page.offset}`;
  return await withPulls(tx, rows);
}

async function withPulls(tx: Tx, rows: readonly QueueRow[]): Promise<QueueEntry[]> {
  if (rows.length === 0) return [];
  const pulls = await tx.rows<PullWithIssue>`
    select i.*, p.* from :schema.pulls p join :schema.issues i on i.id = p.issue_id
    where p.id = any(${rows.map(({ pull_id: id }) => id)}::bigint[])`;
  const byId = new Map(pulls.map((pull) => [pull.id, pull]));
  return rows.flatMap((row) => {
    const pull = byId.get(row.pull_id);
    return pull === undefined ? [] : [{ row, pull }];
  });
}

/** Branches of a repository with somebody in their queue; of all repositories without one. */
export function listBranches(
  tx: Tx,
  repositoryId?: number,
): Promise<{ repository_id: number; base_branch: string }[]> {
  return tx.rows<{ repository_id: number; base_branch: string }>`
    select distinct repository_id, base_branch from :schema.merge_queue
    where ${repositoryId ?? null}::bigint is null or repository_id = ${repositoryId ?? null}::bigint
    order by repository_id, base_branch`;
}

/** Merges that were made ahead of the branch. */
export async function markMade(
  tx: Tx,
  made: readonly { id: number; onto_sha: string; merge_base: string; commit_sha: string }[],
): Promise<void> {
  await tx.run`
    update :schema.merge_queue q set onto_sha = m.onto_sha, merge_base = m.merge_base, commit_sha = m.commit_sha,
      made_at = ${tx.now}
    from jsonb_to_recordset(${JSON.stringify(made)}::jsonb) as m (id bigint, onto_sha text, merge_base text, commit_sha text)
    where q.id = m.id`;
}

/** Takes several out. */
export async function removeAll(tx: Tx, ids: readonly number[]): Promise<void> {
  await tx.run`delete from :schema.merge_queue where id = any(${ids}::bigint[])`;
}

/** Takes a pull request out; false when it was not there. */
export async function remove(tx: Tx, id: number): Promise<boolean> {
  return (await tx.run`delete from :schema.merge_queue where id = ${id}`) > 0;
}
