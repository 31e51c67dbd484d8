import type { Tx } from '@croft/sql';
import { type FoundUsers, reviveFound } from '../people/users.ts';

/** Whether somebody starred a repository. */
export async function exists(tx: Tx, repositoryId: number, userId: number): Promise<boolean> {
  const row = await tx.row`
    select from :schema.stars where repository_id = ${repositoryId} and user_id = ${userId}`;
  return row !== undefined;
}

/** Stars a repository; nothing happens when it is done already, or when the repository is gone. */
export async function add(tx: Tx, repositoryId: number, userId: number): Promise<void> {
  await tx.run`
    insert into :schema.stars (repository_id, user_id, created_at)
    select id, ${userId}::bigint, ${tx.now}::timestamptz from :schema.repositories
    where id = ${repositoryId} and state = 'ready' for key share
    on conflict do nothing`;
}

/** Takes a star back. */
export async function remove(tx: Tx, repositoryId: number, userId: number): Promise<void> {
  await tx.run`delete from :schema.stars where repository_id = ${repositoryId} and user_id = ${userId}`;
}

/** Who starred a repository, the first ones first. */
export async function listUsers(
  tx: Tx,
  repositoryId: number,
  page: { limit: number; offset: number },
): Promise<FoundUsers> {
  return reviveFound(
    await tx.row<FoundUsers>`
    with found as (
      select u.*, s.created_at as starred_at from :schema.stars s join :schema.users u on u.id = s.user_id
      where s.repository_id = ${repositoryId}
    )
    select (select count(*) from found) as total,
      coalesce(jsonb_agg(to_jsonb(p) order by p.starred_at, p.id), '[]') as users
    from (select * from found order by starred_at, id limit ${page.limit} offset ${page.offset}) p`,
  );
}
