import type { Tx } from '@croft/sql';
import type { UserRow } from '../rows.ts';

/** Which users to list. */
export interface UserSearch {
  /** Part of an address, as it is typed; empty for all users. */
  fragment: string;
  /** Else newest first. */
  oldestFirst?: boolean;
  /** From 1. */
  page: number;
  perPage: number;
}

/** One page, and how many there are in all. */
export interface FoundUsers {
  users: UserRow[];
  total: number;
  /** Whether `total` was counted; among very many it is estimated from the newest ones. */
  isExact: boolean;
}

/** So many of the newest users are looked at before the index is asked, a few first. */
const FEW = 1_000;
const MANY = 10_000;

/**
 * Living users by a part of their address. What many addresses have is found among the newest users,
 * what few have by the trigram index. Less than three characters that few have is in no index: all users are read.
 */
export async function searchUsers(tx: Tx, search: UserSearch): Promise<FoundUsers> {
  const { fragment, page, perPage, oldestFirst = false } = search;
  const offset = (page - 1) * perPage;
  if (fragment === '') return await (oldestFirst ? listOldest : listAll)(tx, perPage, offset);
  const pattern = `%${escapeLike(fragment.toLowerCase())}%`;
  for (const limit of oldestFirst ? [] : [FEW, MANY]) {
    const { hits, found } = await searchNewest(tx, pattern, limit, { perPage, offset });
    if (found !== undefined) return found;
    if (hits === 0) break; // few have it
  }
  // Materialised, because a plan made for any pattern would rather walk all users in order than trust the index.
  const found = await tx.row<Omit<FoundUsers, 'isExact'>>`
    with found as materialized (
      select id, created_at from :schema.users where email like ${pattern} and deleted_at is null),
    page as (
      select id, row_number() over () as place from (
        select id from found
        order by case when ${oldestFirst}::boolean then created_at end, created_at desc, id
        limit ${perPage}::int offset ${offset}::bigint) as sorted)
    select (select count(*) from found) as total,
      (select coalesce(jsonb_agg(to_jsonb(u) order by page.place), '[]')
        from :schema.users u join page on page.id = u.id) as users`;
  return { users: found?.users ?? [], total: found?.total ?? 0, isExact: true };
}

/** `found` is undefined when there are further users and the page is not full of these. */
async function searchNewest(
  tx: Tx,
  pattern: string,
  limit: number,
  { perPage, offset }: { perPage: number; offset: number },
): Promise<{ hits: number; found?: FoundUsers }> {
  const row = await tx.row<{ users: UserRow[]; seen: number; hits: number; everybody: number | null }>`
    with seen as materialized (
      select id, created_at, email like ${pattern} as hit from :schema.users where deleted_at is null
      order by created_at desc, id limit ${limit}::int),
    page as (
      select id from seen where hit order by created_at desc, id limit ${perPage}::int offset ${offset}::bigint)
    select (select count(*) from seen) as seen, (select count(*) from seen where hit) as hits,
      -- -1 is a table that was never analysed, which will be within minutes.
      (select case when reltuples < 0 then (select count(*) from :schema.users) else reltuples end::float8 from pg_class where oid = (select tableoid from :schema.users limit 1)) as everybody,
      (select coalesce(jsonb_agg(to_jsonb(u) order by u.created_at desc, u.id), '[]')
        from :schema.users u join page on page.id = u.id) as users`;
  const { users = [], seen = 0, hits = 0, everybody = 0 } = row ?? {};
  if (seen < limit) return { hits, found: { users, total: hits, isExact: true } };
  if (hits < offset + perPage) return { hits };
  const total = Math.max(hits, Math.round((hits / seen) * (everybody ?? 0)));
  return { hits, found: { users, total, isExact: false } };
}

async function listAll(tx: Tx, perPage: number, offset: number): Promise<FoundUsers> {
  const found = await tx.row<FoundUsers>`
    with page as (
      select * from :schema.users where deleted_at is null
      order by created_at desc, id limit ${perPage}::int offset ${offset}::bigint),
    known as (
      select coalesce((select reltuples::float8 from pg_class where oid = (select tableoid from :schema.users limit 1)), 0)
        as everybody)
    select (select everybody from known) <= ${MANY}::float8 as "isExact",
      case when (select everybody from known) <= ${MANY}::float8
        then (select count(*) from :schema.users where deleted_at is null)
        else (select everybody from known)::bigint end as total,
      (select coalesce(jsonb_agg(to_jsonb(page) order by page.created_at desc, page.id), '[]') from page) as users`;
  return found ?? { users: [], total: 0, isExact: true };
}

/** The same from the other end. */
async function listOldest(tx: Tx, perPage: number, offset: number): Promise<FoundUsers> {
  const { total, isExact } = await listAll(tx, 0, 0);
  const found = await tx.row<Pick<FoundUsers, 'users'>>`
    with page as (
      select * from :schema.users where deleted_at is null
      order by created_at, id desc limit ${perPage}::int offset ${offset}::bigint)
    select coalesce(jsonb_agg(to_jsonb(page) order by page.created_at, page.id desc), '[]') as users from page`;
  return { users: found?.users ?? [], total, isExact };
}

/** Where a list of the newest users goes on. */
export interface UserCursor {
  /** RFC 3339 with microseconds, as rows have it. */
  createdAt: string;
  id: string;
}

/** Living users behind one, newest first; as fast at the end of a million as at its beginning. */
export async function listAfter(tx: Tx, after: UserCursor | undefined, limit: number): Promise<UserRow[]> {
  const rows = await tx.rows<{ user: UserRow }>`
    select to_jsonb(u) as "user" from :schema.users u
    where deleted_at is null and (${after?.createdAt}::timestamptz is null or created_at <= ${after?.createdAt}::timestamptz)
      and (${after?.createdAt}::timestamptz is null or created_at < ${after?.createdAt}::timestamptz or id > ${after?.id}::uuid)
    order by created_at desc, id limit ${limit}::int`;
  return rows.map(({ user }) => user);
}

/** `%` and `_` stand for themselves in what a person types. */
function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
