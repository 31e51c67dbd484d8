import { type Fragment, fragment, type Tx } from '@croft/sql';
import type { Reader } from '../issues/timeline.ts';

/** A stopwatch that runs, with what it takes to name its issue. */
export interface RunningStopwatch {
  issue_id: number;
  started_at: Date;
  number: number;
  title: string;
  repository_name: string;
  owner_login: string;
}

/** Starts a stopwatch; false when it runs already. Others that the same person starts wait, so that each ends the one before. */
export async function start(tx: Tx, issueId: number, userId: number): Promise<boolean> {
  await tx.run`select pg_advisory_xact_lock(hashtextextended('croft stopwatch ' || ${userId}::text, 0))`;
  const made = await tx.run`
    insert into :schema.stopwatches (user_id, issue_id, started_at) values (${userId}, ${issueId}, ${tx.now})
    on conflict do nothing`;
  return made > 0;
}

/** Whether somebody has one running on an issue. */
export async function isRunning(tx: Tx, issueId: number, userId: number): Promise<boolean> {
  const row =
    await tx.row`select from :schema.stopwatches where user_id = ${userId} and issue_id = ${issueId}`;
  return row !== undefined;
}

/** When a stopwatch was started, and the switches of its repository. */
export interface EndedStopwatch {
  started_at: Date;
  tracks_time: boolean;
  only_contributors_track_time: boolean;
}

/** Takes a stopwatch away; undefined when none runs. */
export function take(tx: Tx, issueId: number, userId: number): Promise<EndedStopwatch | undefined> {
  return tx.row<EndedStopwatch>`
    delete from :schema.stopwatches s using :schema.issues i, :schema.repositories r
    where s.user_id = ${userId} and s.issue_id = ${issueId} and i.id = s.issue_id and r.id = i.repository_id
    returning s.started_at, r.tracks_time, r.only_contributors_track_time`;
}

/** Somebody's stopwatches on issues he may still read, the first one started first, and how many there are. */
export async function listOf(
  tx: Tx,
  viewer: Reader,
  page: { limit: number; offset: number },
): Promise<{ rows: RunningStopwatch[]; total: number }> {
  const rows = await tx.rows<RunningStopwatch & { list_total: number }>`
    with seen as materialized (
      select s.issue_id, s.started_at, i.number, i.title, r.name as repository_name, o.login as owner_login
      from :schema.stopwatches s join :schema.issues i on i.id = s.issue_id
        join :schema.repositories r on r.id = i.repository_id join :schema.users o on o.id = r.owner_id
      where s.user_id = ${viewer.userId} and :schema.may_read_unit(${viewer.userId}, ${viewer.seesAll},
        ${viewer.publicOnly}, i.repository_id, case when i.is_pull then 'pulls' else 'issues' end)
    )
    select (select count(*) from seen) as list_total, p.*
    from (values (1)) as one left join (
      select * from seen order by started_at, issue_id limit ${page.limit} offset ${page.offset}) p on true
    order by p.started_at, p.issue_id`;
  return { total: rows[0]?.list_total ?? 0, rows: rows.filter((row) => row.issue_id !== null) };
}

/** A stopwatch that was taken away, with what decides whether its owner may still note its time. */
export interface TakenStopwatch extends EndedStopwatch {
  issue_id: number;
  /** When its issue was closed, if it is. */
  closed_at: Date | null;
  poster_id: number | null;
  assignee_ids: number[];
  is_writer: boolean;
  is_locked: boolean;
  /** Whether he may read the issue, in a repository that is not archived. */
  is_open: boolean;
}

/** Takes somebody's stopwatches on all other issues away. */
export function takeOthers(tx: Tx, issueId: number, viewer: Reader): Promise<TakenStopwatch[]> {
  return tx.rows<TakenStopwatch>`
    delete from :schema.stopwatches s using :schema.issues i, :schema.repositories r
    where s.user_id = ${viewer.userId} and s.issue_id <> ${issueId} and i.id = s.issue_id and r.id = i.repository_id
    returning ${taken(fragment`${viewer.seesAll}::boolean`, fragment`${viewer.publicOnly}::boolean`)}`;
}

/**
 * Takes the one away that somebody had running on an issue when it was closed; one that was started afterwards goes on, for
 * people work on what is closed, too.
 */
export function takeFinished(tx: Tx, issueId: number, userId: number): Promise<TakenStopwatch | undefined> {
  return tx.row<TakenStopwatch>`
    delete from :schema.stopwatches s using :schema.issues i, :schema.repositories r, :schema.users u
    where s.user_id = ${userId} and s.issue_id = ${issueId} and i.id = s.issue_id and r.id = i.repository_id
      and u.id = s.user_id and s.started_at <= i.closed_at
    returning ${taken(fragment`u.is_admin`, fragment`false`)}`;
}

function taken(seesAll: Fragment, publicOnly: Fragment): Fragment {
  return fragment`s.issue_id, s.started_at, r.tracks_time, r.only_contributors_track_time, i.closed_at, i.poster_id,
      array(select user_id from :schema.issue_assignees a where a.issue_id = i.id) as assignee_ids,
      i.locked_at is not null as is_locked,
      (${seesAll} or exists (select from :schema.grants g where g.repository_id = r.id
        and g.user_id = s.user_id and case when i.is_pull then g.pulls else g.issues end >= 2)) as is_writer,
      not r.archived and :schema.may_read_unit(s.user_id, ${seesAll}, ${publicOnly}, r.id,
        case when i.is_pull then 'pulls' else 'issues' end) as is_open`;
}
