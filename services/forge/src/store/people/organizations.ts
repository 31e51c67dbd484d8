import type { Tx } from '@croft/sql';
import type { Viewer } from '../../viewer.ts';
import { type FoundUsers, reviveFound, type UserRow } from './users.ts';

/** An organization, and what its viewer is in it. */
export type OrganizationWithRole = UserRow & {
  /** Highest level of the viewer's teams; null for whoever is in none. */
  role: number | null;
  /** Whether one of them may make repositories. */
  creates: boolean | null;
};

/** What is decided about an organization. */
export interface OrganizationFields {
  fullName: string;
  email: string;
  description: string;
  website: string;
  location: string;
  visibility: 'public' | 'limited' | 'private';
  repositoryAdminsManageTeams: boolean;
}

/**
 * Makes an organization with its team of owners, of whom there is one; undefined when the name is taken. It no longer leads
 * to who had it before.
 */
export function insert(
  tx: Tx,
  login: string,
  ownerId: number,
  fields: OrganizationFields,
): Promise<UserRow | undefined> {
  return tx.row<UserRow>`
    with made as (
      insert into :schema.users (kind, login, full_name, email, description, website, location, visibility,
        repository_admins_manage_teams, created_at)
      values ('organization', ${login}, ${fields.fullName}, ${fields.email}, ${fields.description}, ${fields.website},
        ${fields.location}, ${fields.visibility}, ${fields.repositoryAdminsManageTeams}, ${tx.now})
      on conflict do nothing returning *
    ), freed as (
      delete from :schema.former_logins f using made where f.login_key = made.login_key
    ), owners as (
      insert into :schema.teams (organization_id, name, level, code, issues, pulls, includes_all_repositories,
        can_create_repositories, created_at)
      select id, 'Owners', 4, 2, 2, 2, true, true, ${tx.now} from made returning id
    ), owner as (
      insert into :schema.team_members (team_id, user_id) select id, ${ownerId}::bigint from owners
    )
    select * from made`;
}

/** An organization somebody may know of. */
export function findVisible(
  tx: Tx,
  login: string,
  viewer: Viewer,
): Promise<OrganizationWithRole | undefined> {
  return tx.row<OrganizationWithRole>`
    select o.*, m.role, m.creates from :schema.users o cross join lateral (
      select max(t.level) as role, bool_or(t.can_create_repositories or t.level >= 4) as creates
      from :schema.team_members x join :schema.teams t on t.id = x.team_id
      where x.user_id = ${viewer.userId} and t.organization_id = o.id
    ) m
    where o.login_key = lower(${login}) and o.kind = 'organization'
      and :schema.may_know(${viewer.userId}, ${viewer.seesAll}, ${viewer.publicOnly}, o.id, o.visibility)`;
}

/** All organizations somebody may know of, in the order of their names. */
export async function listVisible(
  tx: Tx,
  viewer: Viewer,
  page: { limit: number; offset: number },
): Promise<FoundUsers> {
  return reviveFound(
    await tx.row<FoundUsers>`
    with found as (
      select * from :schema.users o where kind = 'organization'
        and :schema.may_know(${viewer.userId}, ${viewer.seesAll}, ${viewer.publicOnly}, o.id, o.visibility)
    )
    select (select count(*) from found) as total, coalesce(jsonb_agg(to_jsonb(p) order by p.login_key), '[]') as users
    from (select * from found order by login_key limit ${page.limit} offset ${page.offset}) p`,
  );
}

/** Organizations of a member, as far as the viewer may know of them and of the membership. */
export async function listOfMember(
  tx: Tx,
  memberId: number,
  viewer: Viewer,
  page: { limit: number; offset: number },
): Promise<FoundUsers> {
  return reviveFound(
    await tx.row<FoundUsers>`
    with found as (
      select o.* from :schema.users o where kind = 'organization'
        and o.id in (select t.organization_id from :schema.teams t join :schema.team_members m on m.team_id = t.id
          where m.user_id = ${memberId})
        and :schema.may_know(${viewer.userId}, ${viewer.seesAll}, ${viewer.publicOnly}, o.id, o.visibility)
        and (${viewer.seesAll} or :schema.is_member(${viewer.userId}, o.id) or exists (
          select from :schema.public_members x where x.organization_id = o.id and x.user_id = ${memberId}))
    )
    select (select count(*) from found) as total, coalesce(jsonb_agg(to_jsonb(p) order by p.login_key), '[]') as users
    from (select * from found order by login_key limit ${page.limit} offset ${page.offset}) p`,
  );
}

/** Changes what is given; the rest stays as it is, whoever changes it meanwhile. */
export function update(
  tx: Tx,
  id: number,
  change: { [K in keyof OrganizationFields]?: OrganizationFields[K] | undefined },
): Promise<UserRow | undefined> {
  return tx.row<UserRow>`
    update :schema.users set
      full_name = coalesce(${change.fullName ?? null}, full_name),
      email = coalesce(${change.email ?? null}, email),
      description = coalesce(${change.description ?? null}, description),
      website = coalesce(${change.website ?? null}, website),
      location = coalesce(${change.location ?? null}, location),
      visibility = coalesce(${change.visibility ?? null}, visibility),
      repository_admins_manage_teams = coalesce(${change.repositoryAdminsManageTeams ?? null},
        repository_admins_manage_teams)
    where id = ${id} and kind = 'organization' returning *`;
}

/** Holds an organization until the transaction ends: its owners and repositories stay as they are. */
export async function lock(tx: Tx, id: number): Promise<boolean> {
  return (
    (await tx.row`select from :schema.users where id = ${id} and kind = 'organization' for update`) !==
    undefined
  );
}

/** Holds the organizations somebody is an owner of until the transaction ends, always in the same order. */
export function lockOwnedBy(tx: Tx, userId: number): Promise<{ id: number; login: string }[]> {
  return tx.rows<{ id: number; login: string }>`
    select o.id, o.login from :schema.users o where o.id in (
      select t.organization_id from :schema.teams t join :schema.team_members m on m.team_id = t.id
      where m.user_id = ${userId} and t.level = 4)
    order by o.id for update`;
}

/** Whether an account owns any repository, be it one that is being made or removed. */
export async function ownsRepositories(tx: Tx, id: number): Promise<boolean> {
  return (await tx.row`select from :schema.repositories where owner_id = ${id} limit 1`) !== undefined;
}

/** Forgets an organization with its teams. */
export async function remove(tx: Tx, id: number): Promise<void> {
  await tx.run`delete from :schema.users where id = ${id} and kind = 'organization'`;
}
