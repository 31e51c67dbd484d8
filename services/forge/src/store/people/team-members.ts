import type { Tx } from '@croft/sql';
import { type FoundUsers, reviveFound, type UserRow } from './users.ts';

/** Members of a team, in the order of their names. */
export async function list(
  tx: Tx,
  teamId: number,
  page: { limit: number; offset: number },
): Promise<FoundUsers> {
  return reviveFound(
    await tx.row<FoundUsers>`
    with found as (
      select u.* from :schema.team_members m join :schema.users u on u.id = m.user_id where m.team_id = ${teamId}
    )
    select (select count(*) from found) as total, coalesce(jsonb_agg(to_jsonb(p) order by p.login_key), '[]') as users
    from (select * from found order by login_key limit ${page.limit} offset ${page.offset}) p`,
  );
}

/** The ids of all of them. */
export async function listIds(tx: Tx, teamId: number): Promise<number[]> {
  const rows = await tx.rows<{ user_id: number }>`
    select user_id from :schema.team_members where team_id = ${teamId}`;
  return rows.map(({ user_id: id }) => id);
}

/** The member of a team with a name. */
export function find(tx: Tx, teamId: number, login: string): Promise<UserRow | undefined> {
  return tx.row<UserRow>`
    select u.* from :schema.team_members m join :schema.users u on u.id = m.user_id
    where m.team_id = ${teamId} and u.login_key = lower(${login})`;
}

/** Puts a person into a team; nothing happens when he is in it, or when one of the two is gone. */
export async function add(tx: Tx, teamId: number, userId: number): Promise<void> {
  await tx.run`
    insert into :schema.team_members (team_id, user_id)
    select t.id, u.id from :schema.teams t, :schema.users u
    where t.id = ${teamId} and u.id = ${userId} and u.kind = 'person' for key share
    on conflict do nothing`;
}

/** Takes a person out of a team. */
export async function remove(tx: Tx, teamId: number, userId: number): Promise<void> {
  await tx.run`delete from :schema.team_members where team_id = ${teamId} and user_id = ${userId}`;
}
