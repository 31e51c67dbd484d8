import type { Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';

/** A code, and who gave it. */
export type CodeRow = Tables['oauth_codes'] & { user_id: number };
/** Tokens, and whose they are. */
export type TokenRow = Tables['oauth_tokens'] & {
  user_id: number;
  /** Whether any of those that were made for the refresh token was ever used; null when there are none. */
  has_used_successor: boolean | null;
};

/** What somebody allowed a program. */
export type GrantRow = Tables['oauth_grants'] & {
  name: string;
  client_id: string;
  /** Of each of his sign-ins that goes on, and of codes that were not used yet. */
  scope_sets: string[][];
};

/** Sign-ins of a grant that are kept: the one that was not refreshed for longest goes first. */
const MOST_FAMILIES = 100;
/** Tokens of a sign-in that are kept: spent ones go first. */
const MOST_OF_FAMILY = 50;

/** Writes down that somebody allows a program to do something, with a code for it, and lets go of what has expired. */
export async function allow(
  tx: Tx,
  grant: { applicationId: number; userId: number; scopes: readonly string[] },
  code: {
    hash: Buffer;
    redirectUri: string | null;
    challenge: string | null;
    challengeMethod: string | null;
    family: string;
    expiresAt: Date;
  },
): Promise<void> {
  await tx.run`
    with expired_codes as (
      delete from :schema.oauth_codes where code_hash in (
        select code_hash from :schema.oauth_codes where expires_at < ${tx.now} for update skip locked)
    ), expired_tokens as (
      delete from :schema.oauth_tokens where id in (
        select id from :schema.oauth_tokens where refresh_expires_at < ${tx.now} for update skip locked)
    ), allowed as (
      insert into :schema.oauth_grants (application_id, user_id, created_at, updated_at)
      values (${grant.applicationId}, ${grant.userId}, ${tx.now}, ${tx.now})
      on conflict (application_id, user_id) do update set updated_at = excluded.updated_at
      returning id
    )
    insert into :schema.oauth_codes
      (code_hash, grant_id, scopes, redirect_uri, challenge, challenge_method, family, expires_at)
    select ${code.hash}, id, ${grant.scopes}, ${code.redirectUri}, ${code.challenge}, ${code.challengeMethod},
      ${code.family}, ${code.expiresAt}
    from allowed`;
}

/** Lets nobody else make or take back tokens of a grant until the transaction ends; false when it was taken back. */
export async function lock(tx: Tx, id: number): Promise<boolean> {
  return (await tx.row`select from :schema.oauth_grants where id = ${id} for update`) !== undefined;
}

/** A code that was given to a program. */
export function findCode(tx: Tx, applicationId: number, hash: Buffer): Promise<CodeRow | undefined> {
  return tx.row<CodeRow>`
    select c.*, g.user_id from :schema.oauth_codes c join :schema.oauth_grants g on g.id = c.grant_id
    where c.code_hash = ${hash} and g.application_id = ${applicationId}`;
}

/** Uses a code up; false when somebody has. */
export async function spendCode(tx: Tx, hash: Buffer): Promise<boolean> {
  const spent = await tx.run`
    update :schema.oauth_codes set used_at = ${tx.now} where code_hash = ${hash} and used_at is null`;
  return spent > 0;
}

/** The tokens that a refresh token of a program came with. */
export function findByRefreshToken(
  tx: Tx,
  applicationId: number,
  hash: Buffer,
): Promise<TokenRow | undefined> {
  return tx.row<TokenRow>`
    select t.*, g.user_id, (
        select bool_or(s.used_at is not null or s.refreshed_at is not null)
        from :schema.oauth_tokens s where s.parent_id = t.id) as has_used_successor
    from :schema.oauth_tokens t join :schema.oauth_grants g on g.id = t.grant_id
    where t.refresh_hash = ${hash} and g.application_id = ${applicationId}`;
}

/** New tokens, as they are kept. */
export interface NewTokens {
  grantId: number;
  /** The tokens whose refresh token they are for; null when they are for a code. */
  parentId: number | null;
  scopes: readonly string[];
  /** When the access token has less than `scopes`. */
  accessScopes: readonly string[] | null;
  family: string;
  accessHash: Buffer;
  accessExpiresAt: Date;
  refreshHash: Buffer;
  refreshExpiresAt: Date;
}

/** Records tokens of a grant that is locked; what is too much of the sign-in and of the grant goes, and never the parent. */
export async function insertTokens(tx: Tx, tokens: NewTokens): Promise<void> {
  const { grantId, family, parentId } = tokens;
  await tx.run`
    with surplus as (
      (select id from :schema.oauth_tokens where family = ${family} and id is distinct from ${parentId}
        order by refreshed_at is null desc, id desc offset ${MOST_OF_FAMILY - 2})
      union all
      select id from :schema.oauth_tokens where grant_id = ${grantId} and family in (
        select family from :schema.oauth_tokens where grant_id = ${grantId} and family <> ${family}
        group by family order by max(id) desc offset ${MOST_FAMILIES - 1})
    ), removed as (
      delete from :schema.oauth_tokens where id in (
        select id from :schema.oauth_tokens where id in (select id from surplus) for update skip locked)
    )
    insert into :schema.oauth_tokens (grant_id, parent_id, scopes, access_scopes, family, access_hash, access_expires_at,
      refresh_hash, refresh_expires_at)
    values (${grantId}, ${parentId}, ${tokens.scopes}, ${tokens.accessScopes}, ${family}, ${tokens.accessHash},
      ${tokens.accessExpiresAt}, ${tokens.refreshHash}, ${tokens.refreshExpiresAt})`;
}

/** Notes that others are made for a refresh token. */
export async function noteRefresh(tx: Tx, id: number): Promise<void> {
  await tx.run`
    update :schema.oauth_tokens set refreshed_at = coalesce(refreshed_at, ${tx.now}) where id = ${id}`;
}

/** Notes that others are made for a refresh token once more, in place of those that nobody used. */
export async function replaceSuccessors(tx: Tx, id: number): Promise<void> {
  await tx.run`
    with replaced as (
      update :schema.oauth_tokens set is_replaced = true, access_expires_at = least(access_expires_at, ${tx.now})
      where parent_id = ${id}
    )
    update :schema.oauth_tokens set refreshed_at = ${tx.now} where id = ${id}`;
}

/** Takes back all tokens that came from one sign-in. */
export async function removeFamily(tx: Tx, family: string): Promise<void> {
  await tx.run`delete from :schema.oauth_tokens where family = ${family}`;
}

/** What somebody allowed, oldest first. */
export function listOfUser(
  tx: Tx,
  userId: number,
  page: { limit: number; offset: number },
): Promise<GrantRow[]> {
  return tx.rows<GrantRow>`
    select g.*, a.name, a.client_id, (
        select coalesce(jsonb_agg(distinct to_jsonb(l.scopes)), '[]') from (
          select scopes from :schema.oauth_tokens where grant_id = g.id and refresh_expires_at > ${tx.now}
          union all
          select scopes from :schema.oauth_codes
          where grant_id = g.id and used_at is null and expires_at > ${tx.now}) l) as scope_sets
    from :schema.oauth_grants g join :schema.oauth_applications a on a.id = g.application_id
    where g.user_id = ${userId} order by g.id limit ${page.limit} offset ${page.offset}`;
}

/** How much somebody allowed. */
export async function countOfUser(tx: Tx, userId: number): Promise<number> {
  const row = await tx.row<{
    count: number;
  }>`select count(*) from :schema.oauth_grants where user_id = ${userId}`;
  return row?.count ?? 0;
}

/** Takes back what somebody allowed, with every token; false when he allowed nothing of this id. */
export async function remove(tx: Tx, userId: number, id: number): Promise<boolean> {
  return (await tx.run`delete from :schema.oauth_grants where id = ${id} and user_id = ${userId}`) > 0;
}
