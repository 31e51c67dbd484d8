import { type Fragment, fragment, type Tx } from '@croft/sql';

/** Who did what, written by the statement that does it. */
export interface Trace {
  /** Payloads of the audit entries, in order. */
  audit: readonly object[];
  ip: string | null;
  userAgent: string;
}

/** Records what changed nothing else, such as a refused sign-up. */
export async function insert(tx: Tx, trace: Trace): Promise<void> {
  await tx.run`${audited(trace, tx.now, fragment`(select) as nothing`)}`;
}

/**
 * The insert that records what a statement does, for a part of its `with`.
 * @param of what has a row if it was done, and one only
 */
export function audited(trace: Trace, now: Date, of: Fragment): Fragment {
  return fragment`insert into :schema.audit_log_entries (payload, ip_address, created_at)
      select entry, coalesce(${trace.ip}::text, ''), ${now}::timestamptz
      from ${of}, json_array_elements(${JSON.stringify(trace.audit)}::json) entry`;
}

/** Members of a payload. */
export type AuditScope = readonly ('actor_username' | 'actor_name' | 'action' | 'log_type')[];

/** An entry as the protocol shows it. */
export interface AuditRow {
  id: string;
  payload: Record<string, unknown>;
  created_at: string;
  ip_address: string;
}

/** A page of entries, and how many there are in all. */
export interface AuditPage {
  entries: AuditRow[];
  total: number;
}

/** So many are counted; of more the number is estimated. */
const MANY = 10_000;
/** How far the first look goes back, how much further each next one, and which is the last before all is read. */
const FIRST_HOURS = 1;
const TIMES = 4;
const LAST_HOURS = 8 * 365 * 24;

/**
 * Entries, newest first. Of a long log no more is read than what is a few times as far back as the page: the index knows of
 * periods only, and writers pay for no other.
 */
export async function listNewest(tx: Tx, page: Page): Promise<AuditPage & { isExact: boolean }> {
  const known = await tx.row<{ everything: number }>`
    select reltuples::float8 as everything from pg_class
    where oid = (select tableoid from :schema.audit_log_entries limit 1)`;
  const everything = known?.everything ?? 0;
  for (let hours = FIRST_HOURS; everything > MANY && hours <= LAST_HOURS; hours *= TIMES) {
    const since = new Date(tx.now.getTime() - hours * 3_600_000);
    const found = await list(tx, { since }, page);
    if (found.total >= page.page * page.perPage) return { ...found, total: everything, isExact: false };
    if (found.total * TIMES > everything) break; // all of it is not much more
  }
  return { ...(await list(tx, {}, page)), isExact: true };
}

/** Which entries are wanted; all of them when nothing is said. */
interface AuditSearch {
  since?: Date;
  /** What one of the members has in it. */
  part?: { of: AuditScope; text: string };
}

interface Page {
  /** From 1. */
  page: number;
  perPage: number;
}

/** Entries, newest first. A part is looked for in all of them: nothing but the time is indexed, for every sign-in would pay for it. */
export async function list(
  tx: Tx,
  { since, part }: AuditSearch,
  { page, perPage }: Page,
): Promise<AuditPage> {
  const pattern = part && `%${part.text.replace(/[\\%_]/g, '\\$&')}%`;
  const row = await tx.row<AuditPage>`
    with found as materialized (
      select id, created_at from :schema.audit_log_entries e
      where created_at >= coalesce(${since}::timestamptz, '-infinity')
        and (${pattern}::text is null
          or exists (select from unnest(${part?.of ?? []}::text[]) as member where e.payload ->> member ilike ${pattern}::text))),
    page as (
      select id from found order by created_at desc, id limit ${perPage}::int offset ${(page - 1) * perPage}::bigint)
    select (select count(*) from found) as total,
      (select coalesce(jsonb_agg(jsonb_build_object('id', e.id, 'payload', e.payload, 'created_at', e.created_at,
          'ip_address', e.ip_address) order by e.created_at desc, e.id), '[]')
        from :schema.audit_log_entries e join page on page.id = e.id) as entries`;
  return row ?? { entries: [], total: 0 };
}
