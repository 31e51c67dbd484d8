import type { Reader, Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';
import type { Viewer } from '../../viewer.ts';

/** An account: of a person, or an organization. */
export type UserRow = Tables['users'];

/** An account that came as JSON inside another row, where times are texts. */
export function reviveUser(json: UserRow): UserRow {
  const time = (value: Date | string) => new Date(value);
  return {
    ...json,
    created_at: time(json.created_at),
    refused_at: json.refused_at === null ? null : time(json.refused_at),
    checked_at: json.checked_at === null ? null : time(json.checked_at),
    shown_at: json.shown_at === null ? null : time(json.shown_at),
  };
}

/** Stands for whoever is gone. */
export const GHOST: UserRow = {
  id: -1,
  auth_user_id: null,
  login: 'Ghost',
  login_key: 'ghost',
  full_name: '',
  email: '',
  is_admin: false,
  kind: 'person',
  description: '',
  website: '',
  location: '',
  visibility: 'public',
  refused_at: null,
  checked_at: null,
  shown_at: null,
  keeps_full_name: false,
  has_second_factor: false,
  hides_email: false,
  stars: 0,
  followers: 0,
  following: 0,
  repository_admins_manage_teams: false,
  created_at: new Date(0),
};

/** What the auth service says of the account's owner. */
export interface Identity {
  authUserId: string;
  email: string;
  fullName: string;
  isAdmin: boolean;
  /** When it said so. */
  issuedAt: Date;
}

/** The account of an auth user. */
export function findByAuthUserId(tx: Reader, authUserId: string): Promise<UserRow | undefined> {
  return tx.row<UserRow>`select * from :schema.users where auth_user_id = ${authUserId}`;
}

/** The account with a name, whatever its case. */
export function findByLogin(tx: Tx, login: string): Promise<UserRow | undefined> {
  return tx.row<UserRow>`select * from :schema.users where login_key = lower(${login})`;
}

/** The account with a name, if it is a person's or of an organization that may be known. */
export function findVisible(tx: Tx, login: string, viewer: Viewer): Promise<UserRow | undefined> {
  return tx.row<UserRow>`
    select * from :schema.users u where login_key = lower(${login}) and (kind = 'person'
      or :schema.may_know(${viewer.userId}, ${viewer.seesAll}, ${viewer.publicOnly}, u.id, u.visibility))`;
}

/** Those of some names that may be known, as `findVisible`. */
export function listVisible(tx: Tx, logins: readonly string[], viewer: Viewer): Promise<UserRow[]> {
  return tx.rows<UserRow>`
    select * from :schema.users u
    where login_key = any(array(select lower(login) from unnest(${logins}::text[]) as x (login))) and (kind = 'person'
      or :schema.may_know(${viewer.userId}, ${viewer.seesAll}, ${viewer.publicOnly}, u.id, u.visibility))`;
}

/** Accounts by their ids, as a map. */
export async function mapByIds(tx: Reader, ids: readonly number[]): Promise<Map<number, UserRow>> {
  const rows = await tx.rows<UserRow>`select * from :schema.users where id = any(${ids}::bigint[])`;
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * Makes an account, whose name no longer leads to who had it before; undefined when the name is taken or the auth user
 * has one already.
 * @param checkedAt when the auth service was asked about its owner
 */
export function insert(
  tx: Tx,
  login: string,
  identity: Identity,
  checkedAt: Date | undefined,
  hasFactor: boolean,
): Promise<UserRow | undefined> {
  return tx.row<UserRow>`
    with made as (
      insert into :schema.users (auth_user_id, login, full_name, email, is_admin, shown_at, checked_at,
        has_second_factor, created_at)
      values (${identity.authUserId}, ${login}, ${identity.fullName}, ${identity.email}, ${identity.isAdmin},
        ${identity.issuedAt}, ${checkedAt ?? null}, ${hasFactor}, ${tx.now})
      on conflict do nothing returning *
    ), freed as (
      delete from :schema.former_logins f using made where f.login_key = made.login_key
    )
    select * from made`;
}

/** What the auth service answered about an account's owner. */
export interface NotedStatus {
  isRefused: boolean;
  isAdmin: boolean | undefined;
  hasFactor: boolean | undefined;
  shown: Pick<Identity, 'email' | 'fullName'> | undefined;
  askedAt: Date;
}

/** Notes it; of several answers the one to the latest question stays, and what a later token showed. */
export async function noteStatus(tx: Tx, id: number, status: NotedStatus): Promise<void> {
  const { isRefused, isAdmin, hasFactor, shown, askedAt } = status;
  await tx.run`
    update :schema.users set checked_at = ${askedAt}::timestamptz,
      is_admin = coalesce(${isAdmin ?? null}::boolean, is_admin),
      has_second_factor = coalesce(${hasFactor ?? null}::boolean, has_second_factor),
      refused_at = case when ${isRefused} then coalesce(refused_at, ${askedAt}::timestamptz) end,
      email = case when shown_at > ${askedAt}::timestamptz then email else coalesce(${shown?.email ?? null}, email) end,
      full_name = case when keeps_full_name or shown_at > ${askedAt}::timestamptz then full_name
        else coalesce(${shown?.fullName ?? null}, full_name) end,
      shown_at = greatest(shown_at, ${shown === undefined ? null : askedAt}::timestamptz)
    where id = ${id} and (checked_at is null or checked_at < ${askedAt}::timestamptz)`;
}

/**
 * Takes over what may change on the auth side; the login stays, and a full name that was set here. The address, the name
 * and who administrates are what the auth service said last, be it when it was asked or with a token.
 */
export async function updateIdentity(tx: Tx, id: number, identity: Identity): Promise<void> {
  const { email, fullName, isAdmin, issuedAt } = identity;
  await tx.run`
    update :schema.users set
      is_admin = case when checked_at is null or checked_at < ${issuedAt}::timestamptz then ${isAdmin} else is_admin end,
      email = case when shown_at > ${issuedAt}::timestamptz then email else ${email} end,
      full_name = case when keeps_full_name or shown_at > ${issuedAt}::timestamptz then full_name else ${fullName} end,
      shown_at = greatest(shown_at, ${issuedAt}::timestamptz)
    where id = ${id}`;
}

/** What people decide about their accounts. */
export interface UserSettings {
  fullName: string;
  description: string;
  website: string;
  location: string;
  hidesEmail: boolean;
}

/**
 * Changes what is given; the rest stays as it is, whoever changes it meanwhile. A full name that is not the auth service's
 * is kept from then on.
 */
export function updateSettings(
  tx: Tx,
  id: number,
  change: { [K in keyof UserSettings]?: UserSettings[K] | undefined },
): Promise<UserRow | undefined> {
  return tx.row<UserRow>`
    update :schema.users set
      full_name = coalesce(${change.fullName ?? null}, full_name),
      description = coalesce(${change.description ?? null}, description),
      website = coalesce(${change.website ?? null}, website),
      location = coalesce(${change.location ?? null}, location),
      hides_email = coalesce(${change.hidesEmail ?? null}, hides_email),
      keeps_full_name = keeps_full_name or full_name <> coalesce(${change.fullName ?? null}, full_name)
    where id = ${id} returning *`;
}

/** Forgets a person; false when there is none of this id, or when a merge of his is under way. */
export async function removePerson(tx: Tx, id: number): Promise<boolean> {
  const removed = await tx.run`
    delete from :schema.users where id = ${id} and kind = 'person'
      and not exists (select from :schema.merges where merged_by = ${id})`;
  return removed > 0;
}

/** Holds a person until the transaction ends. */
export async function lockPerson(tx: Tx, id: number): Promise<boolean> {
  return (
    (await tx.row`select from :schema.users where id = ${id} and kind = 'person' for update`) !== undefined
  );
}

/** A page of accounts, and how many there are in all. */
export interface FoundUsers {
  total: number;
  users: UserRow[];
}

/** Accounts that a statement returned as one row with a JSON array. */
export function reviveFound(row: FoundUsers | undefined): FoundUsers {
  if (row === undefined) throw new Error('a count returned no row');
  return { total: row.total, users: row.users.map(reviveUser) };
}

/** How many people there are. */
export async function countPeople(tx: Tx): Promise<number> {
  const row = await tx.row<{ count: number }>`
    select count(*)::int as count from :schema.users where kind = 'person'`;
  return row?.count ?? 0;
}

/**
 * People by a part of their names, all with an empty one; in the order of their names.
 * @param id only the one with this id; null for whoever it is
 */
export async function searchPeople(
  tx: Tx,
  part: string,
  id: number | null,
  page: { limit: number; offset: number },
): Promise<FoundUsers> {
  return reviveFound(
    await tx.row<FoundUsers>`
    with found as (
      select * from :schema.users where kind = 'person' and (${id}::bigint is null or id = ${id}::bigint)
        and (position(lower(${part}) in login_key) > 0 or position(lower(${part}) in lower(full_name)) > 0)
    )
    select (select count(*) from found) as total, coalesce(jsonb_agg(to_jsonb(p) order by p.login_key), '[]') as users
    from (select * from found order by login_key limit ${page.limit} offset ${page.offset}) p`,
  );
}
