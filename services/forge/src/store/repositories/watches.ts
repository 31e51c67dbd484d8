import type { Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';
import type { Viewer } from '../../viewer.ts';
import { type FoundUsers, reviveFound } from '../people/users.ts';

/** That somebody watches a repository, or ignores it. */
export type WatchRow = Tables['watches'];

/** What somebody chose for a repository. */
export function find(tx: Tx, repositoryId: number, userId: number): Promise<WatchRow | undefined> {
  return tx.row<WatchRow>`
    select * from :schema.watches where repository_id = ${repositoryId} and user_id = ${userId}`;
}

/** Watches a repository, also one that was ignored; undefined when it is gone. */
export function watch(tx: Tx, repositoryId: number, userId: number): Promise<WatchRow | undefined> {
  return tx.row<WatchRow>`
    insert into :schema.watches (repository_id, user_id, created_at)
    select id, ${userId}::bigint, ${tx.now}::timestamptz from :schema.repositories
    where id = ${repositoryId} and state = 'ready' for key share
    on conflict (repository_id, user_id) do update set ignored = false
    returning *`;
}

/** Forgets the choice. */
export async function remove(tx: Tx, repositoryId: number, userId: number): Promise<void> {
  await tx.run`delete from :schema.watches where repository_id = ${repositoryId} and user_id = ${userId}`;
}

/** Who watches a repository, the first ones first. */
export async function listUsers(
  tx: Tx,
  repositoryId: number,
  page: { limit: number; offset: number },
): Promise<FoundUsers> {
  return reviveFound(
    await tx.row<FoundUsers>`
    with found as (
      select u.*, w.created_at as watched_at from :schema.watches w join :schema.users u on u.id = w.user_id
      where w.repository_id = ${repositoryId} and not w.ignored
    )
    select (select count(*) from found) as total,
      coalesce(jsonb_agg(to_jsonb(p) order by p.watched_at, p.id), '[]') as users
    from (select * from found order by watched_at, id limit ${page.limit} offset ${page.offset}) p`,
  );
}

/** Repositories somebody watches, as far as the viewer may know of them, newest first. */
export async function listRepositoryIds(
  tx: Tx,
  userId: number,
  viewer: Viewer,
  page: { limit: number; offset: number },
): Promise<{ total: number; ids: number[] }> {
  const row = await tx.row<{ total: number; ids: number[] }>`
    with found as materialized (
      select r.id from :schema.visible_repositories(${viewer.userId}, ${viewer.seesAll}, ${viewer.publicOnly}) r
      where exists (select from :schema.watches w
        where w.repository_id = r.id and w.user_id = ${userId} and not w.ignored)
    )
    select (select count(*) from found) as total, array(
      select id from found order by id desc limit ${page.limit} offset ${page.offset})::text[] as ids`;
  return { total: row?.total ?? 0, ids: (row?.ids ?? []).map(Number) };
}
