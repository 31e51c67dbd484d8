import { fragment, type Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';
import type { Reader } from '../issues/timeline.ts';
import { readableOf } from '../readable.ts';

/** Time that somebody spent on an issue. */
export type TrackedTimeRow = Tables['tracked_times'];

/** Whose times, of what and when; what is undefined does not matter. */
export interface TimeFilter {
  repositoryId: number | undefined;
  issueId: number | undefined;
  userId: number | undefined;
  /** By when the time was spent; both ends included. */
  since: Date | undefined;
  before: Date | undefined;
}

/** A time with the bytes of text of its issue, which lists show with it. */
export type ListedTimeRow = TrackedTimeRow & { issue_bytes: number };

/** A page of times on what the viewer may read, oldest first, and how many there are. */
export async function list(
  tx: Tx,
  { repositoryId, issueId, userId, since, before }: TimeFilter,
  viewer: Reader,
  page: { limit: number; offset: number },
): Promise<{ rows: ListedTimeRow[]; total: number }> {
  const rows = await tx.rows<ListedTimeRow & { list_total: number }>`
    with found as materialized (
      select t.id, i.repository_id, i.is_pull from :schema.tracked_times t join :schema.issues i on i.id = t.issue_id
      where (${repositoryId ?? null}::bigint is null or i.repository_id = ${repositoryId ?? null}::bigint)
        and (${issueId ?? null}::bigint is null or t.issue_id = ${issueId ?? null}::bigint)
        and (${userId ?? null}::bigint is null or t.user_id = ${userId ?? null}::bigint)
        and (${since ?? null}::timestamptz is null or t.created_at >= ${since ?? null}::timestamptz)
        and (${before ?? null}::timestamptz is null or t.created_at <= ${before ?? null}::timestamptz)
    ), sources as materialized (
      ${readableOf(viewer, fragment`select distinct repository_id from found`)}
    ), seen as materialized (
      select f.id from found f join sources u using (repository_id)
      where case when f.is_pull then u.pulls else u.issues end
    ), page as (
      select id from seen order by id limit ${page.limit} offset ${page.offset}
    )
    select (select count(*) from seen) as list_total, t.*, octet_length(i.body) as issue_bytes
    from (values (1)) as one left join page on true left join :schema.tracked_times t on t.id = page.id
      left join :schema.issues i on i.id = t.issue_id
    order by t.id`;
  return { total: rows[0]?.list_total ?? 0, rows: rows.filter(({ id }) => id !== null) };
}

/** Times by their ids. */
export function listByIds(tx: Tx, ids: readonly number[]): Promise<TrackedTimeRow[]> {
  return tx.rows<TrackedTimeRow>`select * from :schema.tracked_times where id = any(${ids}::bigint[])`;
}

/** Notes time that was spent. */
export async function insert(
  tx: Tx,
  time: { issueId: number; userId: number; seconds: number; at: Date },
): Promise<TrackedTimeRow> {
  const row = await tx.row<TrackedTimeRow>`
    insert into :schema.tracked_times (issue_id, user_id, seconds, created_at)
    values (${time.issueId}, ${time.userId}, ${time.seconds}, ${time.at}) returning *`;
  if (row === undefined) throw new Error('insert returned no row');
  return row;
}

/** A time that was spent on an issue. */
export function findById(tx: Tx, issueId: number, id: number): Promise<TrackedTimeRow | undefined> {
  return tx.row<TrackedTimeRow>`select * from :schema.tracked_times where id = ${id} and issue_id = ${issueId}`;
}

/** Forgets a time; undefined when it was forgotten already. */
export function deleteById(tx: Tx, issueId: number, id: number): Promise<TrackedTimeRow | undefined> {
  return tx.row<TrackedTimeRow>`
    delete from :schema.tracked_times where id = ${id} and issue_id = ${issueId} returning *`;
}

/** Forgets all times somebody spent on an issue; the seconds they were, 0 when there were none. */
export async function deleteOf(tx: Tx, issueId: number, userId: number): Promise<number> {
  const row = await tx.row<{ seconds: number | null }>`
    with gone as (
      delete from :schema.tracked_times where issue_id = ${issueId} and user_id = ${userId} returning seconds
    )
    select sum(seconds)::bigint as seconds from gone`;
  return row?.seconds ?? 0;
}
