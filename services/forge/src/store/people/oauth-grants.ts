import type { Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';

/** A code, and who gave it. */
export type CodeRow = Tables['oauth_codes'] & { user_id: number };
/** Tokens, and whose they are. */
export type TokenRow = Tables['oauth_tokens'] & { user_id: number };

/** What somebody allowed a program. */
export type GrantRow = Tables['oauth_grants'] & { name: string; client_id: string };

/** Sign-ins of a grant that are kept: whoever refreshes more often loses the oldest. */
const MOST_TOKENS = 100;

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
      delete from :schema.oauth_codes where expires_at < ${tx.now}
    ), expired_tokens as (
      delete from :schema.oauth_tokens where refresh_expires_at < ${tx.now}
    ), allowed as (
      insert into :schema.oauth_grants (application_id, user_id, scopes, created_at, updated_at)
      values (${grant.applicationId}, ${grant.userId}, ${grant.scopes}, ${tx.now}, ${tx.now})
      on conflict (application_id, user_id) do update set scopes = excluded.scopes, updated_at = excluded.updated_at
      returning id
    )
    insert into :schema.oauth_codes
      (code_hash, grant_id, scopes, redirect_uri, challenge, challenge_method, family, expires_at)
    select ${code.hash}, id, ${grant.scopes}, ${code.redirectUri}, ${code.challenge}, ${code.challengeMethod},
      ${code.family}, ${code.expiresAt}
    from allowed`;
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
    select t.*, g.user_id from :schema.oauth_tokens t join :schema.oauth_grants g on g.id = t.grant_id
    where t.refresh_hash = ${hash} and g.application_id = ${applicationId}`;
}

/** New tokens, as they are kept. */
export interface NewTokens {
  grantId: number;
  scopes: readonly string[];
  family: string;
  accessHash: Buffer;
  accessExpiresAt: Date;
  refreshHash: Buffer;
  refreshExpiresAt: Date;
}

/** Records tokens; the oldest ones of the grant go when it has too many. @returns false when it was taken back meanwhile */
export async function insertTokens(tx: Tx, tokens: NewTokens): Promise<boolean> {
  const written = await tx.run`
    with surplus as (
      delete from :schema.oauth_tokens where id in (
        select id from :schema.oauth_tokens where grant_id = ${tokens.grantId} order by id desc offset ${MOST_TOKENS - 1})
    )
    insert into :schema.oauth_tokens
      (grant_id, scopes, family, access_hash, access_expires_at, refresh_hash, refresh_expires_at)
    select id, ${tokens.scopes}, ${tokens.family}, ${tokens.accessHash}, ${tokens.accessExpiresAt}, ${tokens.refreshHash},
      ${tokens.refreshExpiresAt}
    from :schema.oauth_grants where id = ${tokens.grantId}`;
  return written > 0;
}

/** Notes that others were made for a refresh token. */
export async function noteRefresh(tx: Tx, id: number): Promise<void> {
  await tx.run`
    update :schema.oauth_tokens set refreshed_at = coalesce(refreshed_at, ${tx.now}) where id = ${id}`;
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
    select g.*, a.name, a.client_id
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
