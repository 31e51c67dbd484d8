import { fragment, type Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';
import type { Viewer } from '../../viewer.ts';
import { readableOf } from '../readable.ts';
import type { RepositoryWithAccess } from '../repositories/repositories.ts';
import * as repositories from '../repositories/repositories.ts';

/** A person's thread about an issue or pull request. */
export type NotificationRow = Tables['notifications'];

/** A thread with what it is about. */
export type ThreadRow = NotificationRow & {
  repository: RepositoryWithAccess;
  number: number;
  title: string;
  is_pull: boolean;
  closed: boolean;
  merged: boolean;
};

/** Whose threads, and which of them. */
export interface ThreadFilter extends Viewer {
  /** Null for all repositories. */
  repositoryId: number | null;
  statuses: readonly string[];
  kinds: readonly ('issue' | 'pull')[];
  since: Date | null;
  before: Date | null;
}

/** Whom an event interests. */
export interface Notice {
  eventId: number;
  repositoryId: number;
  issueId: number;
  isPull: boolean;
  commentId: number | null;
  /** Nobody is told of what he did himself. */
  actorId: number;
  /** Null for everybody who watches, takes part or is mentioned. */
  onlyAssignee: number | null;
  /** The same for who is asked for a review: somebody, or the members of a team. */
  onlyAsked: { reviewerId: number | null; teamId: number | null } | null;
  /** Names in lower case. */
  mentioned: readonly string[];
}

/**
 * Tells everybody whom an event interests and who may read of it. Whoever ignores the repository or left the issue
 * hears nothing. An event that is worked off twice changes nothing.
 */
export async function notify(tx: Tx, notice: Notice): Promise<void> {
  const forAll = notice.onlyAssignee === null && notice.onlyAsked === null;
  const asked = notice.onlyAsked ?? { reviewerId: null, teamId: null };
  await tx.run`
    with candidates as (
      select user_id from :schema.issue_assignees
      where issue_id = ${notice.issueId} and (${forAll}::boolean or user_id = ${notice.onlyAssignee}::bigint)
      union
      select reviewer_id from :schema.review_requests q join :schema.pulls p on p.id = q.pull_id
      where p.issue_id = ${notice.issueId} and (${forAll}::boolean or reviewer_id = ${asked.reviewerId}::bigint)
      union
      select m.user_id from :schema.review_requests q join :schema.pulls p on p.id = q.pull_id
        join :schema.team_members m on m.team_id = q.team_id
      where p.issue_id = ${notice.issueId} and q.team_id = ${asked.teamId}::bigint
      union
      select user_id from :schema.watches
      where repository_id = ${notice.repositoryId} and not ignored and ${forAll}::boolean
      union
      select user_id from :schema.issue_subscriptions
      where issue_id = ${notice.issueId} and subscribed and ${forAll}::boolean
      union
      select poster_id from :schema.issues where id = ${notice.issueId} and ${forAll}::boolean
      union
      select poster_id from :schema.comments
      where issue_id = ${notice.issueId} and kind in ('comment', 'review') and ${forAll}::boolean
      union
      select id from :schema.users
      where login_key = any(${notice.mentioned}::text[]) and ${forAll}::boolean
    )
    insert into :schema.notifications (user_id, repository_id, issue_id, status, comment_id, event_id, updated_at)
    select u.id, ${notice.repositoryId}, ${notice.issueId}, 'unread',
      (select id from :schema.comments where id = ${notice.commentId}), ${notice.eventId}, ${tx.now}
    from candidates c join :schema.users u on u.id = c.user_id
    where u.kind = 'person' and u.id <> ${notice.actorId}
      and not exists (select from :schema.issue_subscriptions s
        where s.issue_id = ${notice.issueId} and s.user_id = u.id and not s.subscribed)
      and not exists (select from :schema.watches w
        where w.repository_id = ${notice.repositoryId} and w.user_id = u.id and w.ignored)
      and :schema.may_read_unit(u.id, u.is_admin, false, ${notice.repositoryId},
        case when ${notice.isPull}::boolean then 'pulls' else 'issues' end)
      and exists (select from :schema.issues where id = ${notice.issueId})
    order by u.id
    on conflict on constraint notifications_subject_key do update set
      status = case when notifications.status = 'pinned' then 'pinned' else 'unread' end,
      comment_id = coalesce(excluded.comment_id, notifications.comment_id), event_id = excluded.event_id,
      updated_at = excluded.updated_at
    where notifications.event_id < excluded.event_id`;
}

/** What somebody may read of the repositories his threads are of. */
const sourcesOf = (viewer: Viewer) =>
  readableOf(
    viewer,
    fragment`select distinct repository_id from :schema.notifications where user_id = ${viewer.userId}`,
  );

/** A page of somebody's threads, the latest first; those about what he may not read any more are not there. */
export async function list(
  tx: Tx,
  filter: ThreadFilter,
  page: { limit: number; offset: number },
): Promise<ThreadRow[]> {
  const rows = await tx.rows<ThreadRow>`
    with sources as materialized (${sourcesOf(filter)})
    select n.*, i.number, i.title, i.is_pull, i.closed_at is not null as closed, p.merged_at is not null as merged
    from :schema.notifications n join sources u on u.repository_id = n.repository_id
      join :schema.issues i on i.id = n.issue_id left join :schema.pulls p on p.issue_id = i.id
    where n.user_id = ${filter.userId}
      and (${filter.repositoryId}::bigint is null or n.repository_id = ${filter.repositoryId}::bigint)
      and n.status = any(${filter.statuses}::text[])
      and case when i.is_pull then 'pull' else 'issue' end = any(${filter.kinds}::text[])
      and (${filter.since}::timestamptz is null or n.updated_at >= ${filter.since}::timestamptz)
      and (${filter.before}::timestamptz is null or n.updated_at <= ${filter.before}::timestamptz)
      and case when i.is_pull then u.pulls else u.issues end
    order by n.updated_at desc, n.id desc limit ${page.limit} offset ${page.offset}`;
  return await withRepositories(tx, rows, filter.userId);
}

/** How many threads the whole list has. */
export async function count(tx: Tx, filter: ThreadFilter): Promise<number> {
  const row = await tx.row<{ count: number }>`
    with sources as materialized (${sourcesOf(filter)})
    select count(*)
    from :schema.notifications n join sources u on u.repository_id = n.repository_id
      join :schema.issues i on i.id = n.issue_id
    where n.user_id = ${filter.userId}
      and (${filter.repositoryId}::bigint is null or n.repository_id = ${filter.repositoryId}::bigint)
      and n.status = any(${filter.statuses}::text[])
      and case when i.is_pull then 'pull' else 'issue' end = any(${filter.kinds}::text[])
      and (${filter.since}::timestamptz is null or n.updated_at >= ${filter.since}::timestamptz)
      and (${filter.before}::timestamptz is null or n.updated_at <= ${filter.before}::timestamptz)
      and case when i.is_pull then u.pulls else u.issues end`;
  return row?.count ?? 0;
}

/** A thread, if it is the person's. */
export async function findOwn(tx: Tx, id: number, userId: number): Promise<ThreadRow | undefined> {
  const rows = await tx.rows<ThreadRow>`
    select n.*, i.number, i.title, i.is_pull, i.closed_at is not null as closed, p.merged_at is not null as merged
    from :schema.notifications n join :schema.issues i on i.id = n.issue_id
      left join :schema.pulls p on p.issue_id = i.id
    where n.id = ${id} and n.user_id = ${userId}`;
  return (await withRepositories(tx, rows, userId))[0];
}

/** Gives a thread another status. */
export async function setStatus(tx: Tx, id: number, status: string): Promise<void> {
  await tx.run`update :schema.notifications set status = ${status} where id = ${id}`;
}

/** Gives all threads of a filter another status and returns the newest of them. */
export async function mark(tx: Tx, filter: ThreadFilter, status: string): Promise<ThreadRow[]> {
  const rows = await tx.rows<ThreadRow>`
    with sources as materialized (${sourcesOf(filter)}), marked as (
      update :schema.notifications n set status = ${status}
      from :schema.issues i, sources u
      where n.user_id = ${filter.userId} and i.id = n.issue_id and u.repository_id = n.repository_id
        and (${filter.repositoryId}::bigint is null or n.repository_id = ${filter.repositoryId}::bigint)
        and n.status = any(${filter.statuses}::text[])
        and (${filter.before}::timestamptz is null or n.updated_at <= ${filter.before}::timestamptz)
        and case when i.is_pull then u.pulls else u.issues end
      returning n.*
    )
    select n.*, i.number, i.title, i.is_pull, i.closed_at is not null as closed, p.merged_at is not null as merged
    from marked n join :schema.issues i on i.id = n.issue_id left join :schema.pulls p on p.issue_id = i.id
    order by n.updated_at desc, n.id desc limit ${MOST_ANSWERED}`;
  return await withRepositories(tx, rows, filter.userId);
}

/** Whoever has more unread threads does not want to see them all. */
const MOST_ANSWERED = 50;

/** Whoever merged a pull request has read of it. */
export async function markRead(tx: Tx, userId: number, issueId: number): Promise<void> {
  await tx.run`
    update :schema.notifications set status = 'read'
    where user_id = ${userId} and issue_id = ${issueId} and status = 'unread'`;
}

async function withRepositories(tx: Tx, rows: ThreadRow[], userId: number): Promise<ThreadRow[]> {
  const ids = [...new Set(rows.map((row) => row.repository_id))];
  const found = new Map((await repositories.listByIds(tx, ids, userId)).map((row) => [row.id, row]));
  return rows.flatMap((row) => {
    const repository = found.get(row.repository_id);
    return repository === undefined ? [] : [{ ...row, repository }];
  });
}
