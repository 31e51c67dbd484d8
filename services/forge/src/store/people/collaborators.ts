import type { Tx } from '@croft/sql';
import { type FoundUsers, reviveFound, type UserRow } from './users.ts';

/** A page of the people that a repository was opened to, in the order of their names. */
export async function list(
  tx: Tx,
  repositoryId: number,
  page: { limit: number; offset: number },
): Promise<FoundUsers> {
  return reviveFound(
    await tx.row<FoundUsers>`
    with found as (
      select u.* from :schema.collaborators c join :schema.users u on u.id = c.user_id
      where c.repository_id = ${repositoryId}
    )
    select (select count(*) from found) as total, coalesce(jsonb_agg(to_jsonb(p) order by p.login_key), '[]') as users
    from (select * from found order by login_key limit ${page.limit} offset ${page.offset}) p`,
  );
}

/** Whether a repository was opened to somebody. */
export async function exists(tx: Tx, repositoryId: number, userId: number): Promise<boolean> {
  const row = await tx.row`
    select from :schema.collaborators where repository_id = ${repositoryId} and user_id = ${userId}`;
  return row !== undefined;
}

/** Opens a repository to somebody, or changes how far; nothing happens when one of the two is gone. */
export async function put(tx: Tx, repositoryId: number, userId: number, level: number): Promise<void> {
  await tx.run`
    insert into :schema.collaborators (repository_id, user_id, level)
    select r.id, u.id, ${level}::smallint from :schema.repositories r, :schema.users u
    where r.id = ${repositoryId} and u.id = ${userId} for key share
    on conflict (repository_id, user_id) do update set level = excluded.level`;
}

/** Closes it to him again. */
export async function remove(tx: Tx, repositoryId: number, userId: number): Promise<void> {
  await tx.run`delete from :schema.collaborators where repository_id = ${repositoryId} and user_id = ${userId}`;
}

/** People who were given at least a level on any unit, in the order of their names: 2 can be assigned to issues. */
export function listReaching(tx: Tx, repositoryId: number, level: number): Promise<UserRow[]> {
  return tx.rows<UserRow>`
    select u.* from :schema.users u where u.kind = 'person' and u.id in (
      select g.user_id from :schema.grants g
      where g.repository_id = ${repositoryId} and greatest(g.level, g.code, g.issues, g.pulls) >= ${level})
    order by u.login_key`;
}
