import type { Tx } from '@croft/sql';
import { type FoundUsers, reviveFound } from './users.ts';

/** Members of an organization, those who show it or all, in the order of their names. */
export async function list(
  tx: Tx,
  organizationId: number,
  which: 'all' | 'public',
  page: { limit: number; offset: number },
): Promise<FoundUsers> {
  return reviveFound(
    await tx.row<FoundUsers>`
    with found as (
      select u.* from :schema.users u where u.id in (
        select m.user_id from :schema.team_members m join :schema.teams t on t.id = m.team_id
        where t.organization_id = ${organizationId})
        and (${which === 'all'} or exists (
          select from :schema.public_members p where p.organization_id = ${organizationId} and p.user_id = u.id))
    )
    select (select count(*) from found) as total, coalesce(jsonb_agg(to_jsonb(p) order by p.login_key), '[]') as users
    from (select * from found order by login_key limit ${page.limit} offset ${page.offset}) p`,
  );
}

/** What somebody is in an organization. */
export interface Membership {
  userId: number;
  /** Whether in any team. */
  isMember: boolean;
  isOwner: boolean;
  /** Whether it is shown to everybody. */
  isPublic: boolean;
}

/** The membership of the person with a name; undefined when there is no such person. */
export function find(tx: Tx, organizationId: number, login: string): Promise<Membership | undefined> {
  return tx.row<Membership>`
    select u.id as "userId", :schema.is_member(u.id, ${organizationId}) as "isMember", exists (
        select from :schema.team_members m join :schema.teams t on t.id = m.team_id
        where m.user_id = u.id and t.organization_id = ${organizationId} and t.level = 4) as "isOwner",
      exists (select from :schema.public_members p
        where p.organization_id = ${organizationId} and p.user_id = u.id) as "isPublic"
    from :schema.users u where u.login_key = lower(${login}) and u.kind = 'person'`;
}

/** How many owners an organization has. */
export async function countOwners(tx: Tx, organizationId: number): Promise<number> {
  const row = await tx.row<{ count: number }>`
    select count(distinct m.user_id) from :schema.team_members m join :schema.teams t on t.id = m.team_id
    where t.organization_id = ${organizationId} and t.level = 4`;
  return row?.count ?? 0;
}

/** Takes somebody out of all teams of an organization. */
export async function remove(tx: Tx, organizationId: number, userId: number): Promise<void> {
  await tx.run`
    with hidden as (
      delete from :schema.public_members where organization_id = ${organizationId} and user_id = ${userId}
    )
    delete from :schema.team_members m using :schema.teams t
    where t.id = m.team_id and t.organization_id = ${organizationId} and m.user_id = ${userId}`;
}

/** Shows a membership to everybody; without one nothing is shown. */
export async function show(tx: Tx, organizationId: number, userId: number): Promise<void> {
  await tx.run`
    insert into :schema.public_members (organization_id, user_id)
    select ${organizationId}::bigint, ${userId}::bigint where :schema.is_member(${userId}, ${organizationId})
    on conflict do nothing`;
}

/** Hides a membership. */
export async function hide(tx: Tx, organizationId: number, userId: number): Promise<void> {
  await tx.run`
    delete from :schema.public_members where organization_id = ${organizationId} and user_id = ${userId}`;
}

/** Forgets who showed a membership that is over: whoever comes back shows it again only when he wants to. */
export async function hideFormer(tx: Tx, organizationId: number): Promise<void> {
  await tx.run`
    delete from :schema.public_members p
    where p.organization_id = ${organizationId} and not :schema.is_member(p.user_id, p.organization_id)`;
}
