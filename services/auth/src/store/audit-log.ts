import type { Tx } from '@croft/sql';

/** Who did what, written by the statement that does it. */
export interface Trace {
  /** Payloads of the audit entries, in order. */
  audit: readonly object[];
  ip: string | null;
  userAgent: string;
}

/** Records what changed nothing else, such as a refused sign-up. */
export async function insert(tx: Tx, trace: Trace): Promise<void> {
  await tx.run`
    insert into :schema.audit_log_entries (payload, ip_address, created_at)
    select entry, coalesce(${trace.ip}::text, ''), ${tx.now}
    from json_array_elements(${JSON.stringify(trace.audit)}::json) entry`;
}
