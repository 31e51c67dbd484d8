import { fragment, type Tx } from '@croft/sql';
import {
  type IssueAnywhere,
  type IssueSlice,
  listAnywhere,
  type PagePart,
  type SearchScope,
} from './issue-lists.ts';

/** Which end of a dependency an issue is at: what it waits for, or what waits for it. */
export type DependencySide = 'dependencies' | 'blocks';

/** Whether something an issue depends on is open, besides some others, where its repository has dependencies. */
export async function hasOpen(tx: Tx, issueId: number, besides: readonly number[] = []): Promise<boolean> {
  const row = await tx.row`
    select from :schema.dependencies d join :schema.issues i on i.id = d.blocked_by
      join :schema.issues w on w.id = d.issue_id join :schema.repositories r on r.id = w.repository_id
    where d.issue_id = ${issueId} and i.closed_at is null and r.has_dependencies
      and not d.blocked_by = any(${besides}::bigint[]) limit 1`;
  return row !== undefined;
}

/** A page of what an issue depends on or blocks, as far as the viewer may see it, and how many there are. */
export async function list(
  tx: Tx,
  issueId: number,
  side: DependencySide,
  viewer: Pick<SearchScope, 'userId' | 'seesAll' | 'publicOnly'>,
  page: PagePart,
): Promise<IssueSlice<IssueAnywhere>> {
  const found = fragment`
    with others as (
      select case when ${side}::text = 'dependencies' then d.blocked_by else d.issue_id end as id
      from :schema.dependencies d
      where (${side}::text = 'dependencies' and d.issue_id = ${issueId})
        or (${side}::text = 'blocks' and d.blocked_by = ${issueId})
    ), seen as (
      select o.id, i.created_at from others o join :schema.issues i using (id)
        join :schema.readable(${viewer.userId}, ${viewer.seesAll}, ${viewer.publicOnly}) u
          on u.repository_id = i.repository_id and case when i.is_pull then u.pulls else u.issues end
    )
    select (select count(*) from seen) as total, 0 as linked, array(
      select id from seen order by created_at desc, id desc limit ${page.limit} offset ${page.offset}) as ids`;
  return await listAnywhere(tx, found, page.bytes);
}

/** Something an issue waits for. */
export interface WaitedFor {
  id: number;
  /** Whether its repository only serves reads. */
  archived: boolean;
  /** Whether the viewer may not read it. */
  isHidden: boolean;
  /** Whether its conversation goes on without the viewer. */
  isLocked: boolean;
}

/** What an issue waits for and a path names or named once, for the viewer to read or not. */
export function findWaitedFor(
  tx: Tx,
  issueId: number,
  path: { owner: string; repo: string; number: number },
  viewer: Pick<SearchScope, 'userId' | 'seesAll' | 'publicOnly'>,
): Promise<WaitedFor | undefined> {
  return tx.row<WaitedFor>`
    with owners as (
      select id from :schema.users where login_key = lower(${path.owner})
      union select user_id from :schema.former_logins where login_key = lower(${path.owner})
    )
    select i.id, r.archived, not :schema.may_read_unit(${viewer.userId}, ${viewer.seesAll}, ${viewer.publicOnly}, r.id,
      case when i.is_pull then 'pulls' else 'issues' end) as "isHidden",
      i.locked_at is not null and not (${viewer.seesAll}::boolean or exists (select from :schema.grants g
        where g.repository_id = r.id and g.user_id = ${viewer.userId}
          and case when i.is_pull then g.pulls else g.issues end >= 2)) as "isLocked"
    from :schema.dependencies d join :schema.issues i on i.id = d.blocked_by
      join :schema.repositories r on r.id = i.repository_id
      cross join lateral (select r.owner_id in (select id from owners) and r.name_key = lower(${path.repo})) n (now)
    where d.issue_id = ${issueId} and i.number = ${path.number} and (n.now or exists (
      select from :schema.former_repository_names f join owners on owners.id = f.owner_id
      where f.repository_id = r.id and f.name_key = lower(${path.repo})))
    order by n.now desc limit 1`;
}

/** Lets nobody else add a dependency until the transaction ends: two could close a circle of which each adds a half. */
export async function lockAll(tx: Tx): Promise<void> {
  await tx.run`select pg_advisory_xact_lock(hashtext('croft forge dependencies'))`;
}

/** Has an issue stay until the transaction ends, whoever else writes to it meanwhile; false when it is gone. */
export async function keep(tx: Tx, issueId: number): Promise<boolean> {
  return (await tx.row`select from :schema.issues where id = ${issueId} for key share`) !== undefined;
}

/** Whether an issue waits for another, however many stand between them; and for itself. */
export async function waitsFor(tx: Tx, issueId: number, otherId: number): Promise<boolean> {
  const row = await tx.row`
    with recursive waiting (id) as (
      values (${issueId}::bigint)
      union
      select d.blocked_by from waiting w join :schema.dependencies d on d.issue_id = w.id)
    select from waiting where id = ${otherId}`;
  return row !== undefined;
}

/** Makes an issue wait for another; false when it does already. */
export async function insert(tx: Tx, issueId: number, blockedBy: number): Promise<boolean> {
  return (
    (await tx.run`
    insert into :schema.dependencies (issue_id, blocked_by) values (${issueId}, ${blockedBy}) on conflict do nothing`) >
    0
  );
}

/** Ends the waiting; false when there was none. */
export async function remove(tx: Tx, issueId: number, blockedBy: number): Promise<boolean> {
  return (
    (await tx.run`
    delete from :schema.dependencies where issue_id = ${issueId} and blocked_by = ${blockedBy}`) > 0
  );
}
