import { fragment as sql, type Tx } from '@croft/sql';
import type { Person } from '../rows.ts';
import { identitiesOf } from './identities-of.ts';

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
export interface FoundUsers extends LoadedUsers {
  total: number;
  /** Whether `total` was counted; among very many it is estimated from the newest ones. */
  isExact: boolean;
}

/** Users with their ways to sign in. */
export interface LoadedUsers {
  people: Person[];
  /** Whether these are all; else the others would be too much to be in memory with them. */
  isWhole: boolean;
}

/** A page before its users are loaded. */
interface FoundIds {
  ids: string[];
  total: number;
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
  const { ids, ...found } = await findIds(tx, search);
  return { ...found, ...(await loadUsers(tx, ids)) };
}

async function findIds(tx: Tx, search: UserSearch): Promise<FoundIds> {
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
  const found = await tx.row<Omit<FoundIds, 'isExact'>>`
    with found as materialized (
      select id, created_at from :schema.users where email like ${pattern} and deleted_at is null),
    page as (
      select id, row_number() over () as place from (
        select id from found
        order by case when ${oldestFirst}::boolean then created_at end, created_at desc, id
        limit ${perPage}::int offset ${offset}::bigint) as sorted)
    select (select count(*) from found) as total,
      (select coalesce(jsonb_agg(id order by place), '[]') from page) as ids`;
  return { ids: found?.ids ?? [], total: found?.total ?? 0, isExact: true };
}

/** `found` is undefined when there are further users and the page is not full of these. */
async function searchNewest(
  tx: Tx,
  pattern: string,
  limit: number,
  { perPage, offset }: { perPage: number; offset: number },
): Promise<{ hits: number; found?: FoundIds }> {
  const row = await tx.row<{ ids: string[]; seen: number; hits: number; everybody: number | null }>`
    with seen as materialized (
      select id, created_at, email like ${pattern} as hit from :schema.users where deleted_at is null
      order by created_at desc, id limit ${limit}::int),
    page as (
      select id, created_at from seen where hit order by created_at desc, id limit ${perPage}::int offset ${offset}::bigint)
    select (select count(*) from seen) as seen, (select count(*) from seen where hit) as hits,
      -- -1 is a table that was never analysed, which will be within minutes.
      (select case when reltuples < 0 then (select count(*) from :schema.users) else reltuples end::float8 from pg_class where oid = (select tableoid from :schema.users limit 1)) as everybody,
      (select coalesce(jsonb_agg(id order by created_at desc, id), '[]') from page) as ids`;
  const { ids = [], seen = 0, hits = 0, everybody = 0 } = row ?? {};
  if (seen < limit) return { hits, found: { ids, total: hits, isExact: true } };
  if (hits < offset + perPage) return { hits };
  const total = Math.max(hits, Math.round((hits / seen) * (everybody ?? 0)));
  return { hits, found: { ids, total, isExact: false } };
}

async function listAll(tx: Tx, perPage: number, offset: number): Promise<FoundIds> {
  const found = await tx.row<FoundIds>`
    with page as (
      select id, created_at from :schema.users where deleted_at is null
      order by created_at desc, id limit ${perPage}::int offset ${offset}::bigint),
    known as (
      select coalesce((select reltuples::float8 from pg_class where oid = (select tableoid from :schema.users limit 1)), 0)
        as everybody)
    select (select everybody from known) <= ${MANY}::float8 as "isExact",
      case when (select everybody from known) <= ${MANY}::float8
        then (select count(*) from :schema.users where deleted_at is null)
        else (select everybody from known)::bigint end as total,
      (select coalesce(jsonb_agg(id order by created_at desc, id), '[]') from page) as ids`;
  return found ?? { ids: [], total: 0, isExact: true };
}

/** The same from the other end. */
async function listOldest(tx: Tx, perPage: number, offset: number): Promise<FoundIds> {
  const { total, isExact } = await listAll(tx, 0, 0);
  const found = await tx.row<Pick<FoundIds, 'ids'>>`
    with page as (
      select id, created_at from :schema.users where deleted_at is null
      order by created_at, id desc limit ${perPage}::int offset ${offset}::bigint)
    select coalesce(jsonb_agg(id order by created_at, id desc), '[]') as ids from page`;
  return { ids: found?.ids ?? [], total, isExact };
}

/** Where a list of the newest users goes on. */
export interface UserCursor {
  /** RFC 3339 with microseconds, as rows have it. */
  createdAt: string;
  id: string;
}

/** Living users behind one, newest first; as fast at the end of a million as at its beginning. */
export async function listAfter(tx: Tx, after: UserCursor | undefined, limit: number): Promise<LoadedUsers> {
  const rows = await tx.rows<{ id: string }>`
    select id from :schema.users
    where deleted_at is null and (${after?.createdAt}::timestamptz is null or created_at <= ${after?.createdAt}::timestamptz)
      and (${after?.createdAt}::timestamptz is null or created_at < ${after?.createdAt}::timestamptz or id > ${after?.id}::uuid)
    order by created_at desc, id limit ${limit}::int`;
  return await loadUsers(
    tx,
    rows.map(({ id }) => id),
  );
}

/**
 * What the users of a page have together, in bytes: metadata has up to half a megabyte, and so have identities. Fifty of
 * the largest, which is a page for who names no number, fit.
 */
const PAGE_BYTES = 64 * 1024 * 1024;

/** Users of some ids, in their order, as far as they fit; the first one always does. */
async function loadUsers(tx: Tx, ids: readonly string[]): Promise<LoadedUsers> {
  if (ids.length === 0) return { people: [], isWhole: true };
  const rows = await tx.rows<Person & { isWhole: boolean }>`
    with page as materialized (
      select u.id, wanted.place, octet_length(to_jsonb(u)::text) + (
          select coalesce(sum(octet_length(to_jsonb(i)::text)), 0) from :schema.identities i where i.user_id = u.id) as bytes
      from unnest(${ids}::uuid[]) with ordinality as wanted (id, place) join :schema.users u on u.id = wanted.id),
    measured as (
      select id, place, row_number() over up_to_here = 1 or sum(bytes) over up_to_here <= ${PAGE_BYTES}::int as fits
      from page window up_to_here as (order by place))
    select to_jsonb(u) as "user", ${identitiesOf(sql`u.id`)} as identities,
      (select bool_and(fits) from measured) as "isWhole"
    from measured m join :schema.users u on u.id = m.id where m.fits order by m.place`;
  return {
    people: rows.map(({ user, identities }) => ({ user, identities })),
    isWhole: rows.every(({ isWhole }) => isWhole),
  };
}

/** `%` and `_` stand for themselves in what a person types. */
function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
