import type { Tx } from '@croft/sql';
import { type FoundUsers, reviveFound } from '../people/users.ts';

/** Who wants to hear of an issue. */
interface Subscription {
  issueId: number;
  userId: number;
}

/** A page of those who said that they want to hear of an issue, and how many there are. */
export async function list(
  tx: Tx,
  issueId: number,
  page: { limit: number; offset: number },
): Promise<FoundUsers> {
  return reviveFound(
    await tx.row<FoundUsers>`
    with found as (
      select u.* from :schema.issue_subscriptions s join :schema.users u on u.id = s.user_id
      where s.issue_id = ${issueId} and s.subscribed
    )
    select (select count(*) from found) as total, coalesce(jsonb_agg(to_jsonb(p) order by p.id), '[]') as users
    from (select * from found order by id limit ${page.limit} offset ${page.offset}) p`,
  );
}

/**
 * Whether somebody hears of an issue: as he said; else as he said of the repository; else when he has a part in it.
 */
export async function hears(tx: Tx, { issueId, userId }: Subscription): Promise<boolean> {
  const row = await tx.row<{ hears: boolean }>`
    select coalesce(
      (select s.subscribed from :schema.issue_subscriptions s where s.issue_id = i.id and s.user_id = ${userId}),
      (select not w.ignored from :schema.watches w
        where w.repository_id = i.repository_id and w.user_id = ${userId}),
      i.poster_id = ${userId}
        or exists (select from :schema.issue_assignees a where a.issue_id = i.id and a.user_id = ${userId})
        or exists (select from :schema.comments c
          where c.issue_id = i.id and c.kind in ('comment', 'review') and c.poster_id = ${userId})
    ) as hears
    from :schema.issues i where i.id = ${issueId}`;
  return row?.hears ?? false;
}

/** Notes what somebody wants; false when the issue is gone. */
export async function set(tx: Tx, { issueId, userId }: Subscription, subscribed: boolean): Promise<boolean> {
  const changed = await tx.run`
    insert into :schema.issue_subscriptions (issue_id, user_id, subscribed, created_at)
    select id, ${userId}, ${subscribed}, ${tx.now} from :schema.issues where id = ${issueId}
    on conflict (issue_id, user_id) do update set subscribed = excluded.subscribed`;
  return changed > 0;
}
