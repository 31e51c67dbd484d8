import type { Tx } from '@croft/sql';
import { type FoundUsers, reviveFound } from './users.ts';

/** Which side of somebody is asked for: who follows him, or whom he follows. */
export type FollowSide = 'followers' | 'following';

/** Whether somebody follows somebody. */
export async function exists(tx: Tx, followerId: number, followedId: number): Promise<boolean> {
  const row = await tx.row`
    select from :schema.follows where follower_id = ${followerId} and followed_id = ${followedId}`;
  return row !== undefined;
}

/** Follows a person; nothing happens when it is done already, when one of them is gone, or when it is the same person. */
export async function add(tx: Tx, followerId: number, followedId: number): Promise<void> {
  await tx.run`
    insert into :schema.follows (follower_id, followed_id, created_at)
    select f.id, u.id, ${tx.now}::timestamptz from :schema.users u, :schema.users f
    where u.id = ${followedId} and u.id <> ${followerId} and u.kind = 'person' and f.id = ${followerId} for key share
    on conflict do nothing`;
}

/** Follows a person no longer. */
export async function remove(tx: Tx, followerId: number, followedId: number): Promise<void> {
  await tx.run`
    delete from :schema.follows where follower_id = ${followerId} and followed_id = ${followedId}`;
}

/** People on one side of somebody, the first ones first. */
export async function listUsers(
  tx: Tx,
  userId: number,
  side: FollowSide,
  page: { limit: number; offset: number },
): Promise<FoundUsers> {
  return reviveFound(
    await tx.row<FoundUsers>`
    with others as (
      select follower_id as id, created_at as followed_at from :schema.follows
      where ${side}::text = 'followers' and followed_id = ${userId}
      union all
      select followed_id, created_at from :schema.follows
      where ${side}::text = 'following' and follower_id = ${userId}
    ), page as (
      select * from others order by followed_at, id limit ${page.limit} offset ${page.offset}
    )
    select (select count(*) from others) as total,
      coalesce((select jsonb_agg(to_jsonb(u) order by p.followed_at, p.id)
        from page p join :schema.users u using (id)), '[]') as users`,
  );
}
