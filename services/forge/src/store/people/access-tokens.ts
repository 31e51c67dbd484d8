import type { Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';
import type { UserRow } from './users.ts';

/** A personal access token, without its secret. */
export type AccessTokenRow = Omit<Tables['access_tokens'], 'token_hash'>;

/** Records a token; undefined when the user has one of this name. */
export function insert(
  tx: Tx,
  token: { userId: number; name: string; hash: Buffer; lastEight: string; scopes: readonly string[] },
): Promise<AccessTokenRow | undefined> {
  return tx.row<AccessTokenRow>`
    insert into :schema.access_tokens (user_id, name, token_hash, last_eight, scopes, created_at)
    values (${token.userId}, ${token.name}, ${token.hash}, ${token.lastEight}, ${token.scopes}, ${tx.now})
    on conflict (user_id, name) do nothing
    returning id, user_id, name, last_eight, scopes, created_at, last_used_at`;
}

/**
 * The owner of a token, his own or one he let a program have, and what it was made for; a use of his own is noted once a minute, of
 * another the first one. */
export function use(tx: Tx, hash: Buffer): Promise<(UserRow & { scopes: string[] }) | undefined> {
  const minuteAgo = new Date(tx.now.getTime() - 60_000);
  return tx.row<UserRow & { scopes: string[] }>`
    with noted as (
      update :schema.access_tokens set last_used_at = ${tx.now}
      where token_hash = ${hash} and (last_used_at is null or last_used_at < ${minuteAgo})
    ), noted_first as (
      update :schema.oauth_tokens set used_at = ${tx.now} where access_hash = ${hash} and used_at is null
    )
    select u.*, t.scopes from (
        select user_id, scopes from :schema.access_tokens where token_hash = ${hash}
        union all
        select g.user_id, coalesce(o.access_scopes, o.scopes)
        from :schema.oauth_tokens o join :schema.oauth_grants g on g.id = o.grant_id
        where o.access_hash = ${hash} and o.access_expires_at > ${tx.now}) t
      join :schema.users u on u.id = t.user_id`;
}

/** Tokens of a user, oldest first. */
export function listOfUser(
  tx: Tx,
  userId: number,
  page: { limit: number; offset: number },
): Promise<AccessTokenRow[]> {
  return tx.rows<AccessTokenRow>`
    select id, user_id, name, last_eight, scopes, created_at, last_used_at from :schema.access_tokens
    where user_id = ${userId} order by id limit ${page.limit} offset ${page.offset}`;
}

/** How many tokens a user has. */
export async function countOfUser(tx: Tx, userId: number): Promise<number> {
  const row = await tx.row<{
    count: number;
  }>`select count(*) from :schema.access_tokens where user_id = ${userId}`;
  return row?.count ?? 0;
}

/** Removes a token named by its id or, when none has that id, by its name; false when there is none. */
export async function deleteByIdOrName(tx: Tx, userId: number, idOrName: string): Promise<boolean> {
  const removed = await tx.run`
    delete from :schema.access_tokens where id = (
      select id from :schema.access_tokens where user_id = ${userId} and (id::text = ${idOrName} or name = ${idOrName})
      order by id::text = ${idOrName} desc limit 1)`;
  return removed > 0;
}
