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

/**
 * Entries, newest first, of which one of the members has the part in it. Reads all of them: nothing but the time is indexed, for
 * every sign-in would pay for it.
 */
export async function list(
  tx: Tx,
  search: { members: AuditScope; part: string } | undefined,
  { page, perPage }: { page: number; perPage: number },
): Promise<AuditPage> {
  const pattern = search && `%${search.part.replace(/[\\%_]/g, '\\$&')}%`;
  const row = await tx.row<AuditPage>`
    with found as materialized (
      select id, created_at from :schema.audit_log_entries e
      where ${pattern}::text is null
        or exists (select from unnest(${search?.members ?? []}::text[]) as member where e.payload ->> member ilike ${pattern}::text)),
    page as (
      select id from found order by created_at desc, id limit ${perPage}::int offset ${(page - 1) * perPage}::bigint)
    select (select count(*) from found) as total,
      (select coalesce(jsonb_agg(jsonb_build_object('id', e.id, 'payload', e.payload, 'created_at', e.created_at,
          'ip_address', e.ip_address) order by e.created_at desc, e.id), '[]')
        from :schema.audit_log_entries e join page on page.id = e.id) as entries`;
  return row ?? { entries: [], total: 0 };
}
