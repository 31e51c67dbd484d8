import type { Tx } from '@croft/sql';

// Tables of a GoTrue database, read a page at a time by primary key. `:schema` is the schema that is theirs.

/** A row as it is, whatever columns its version has. */
type Page = Promise<{ row: Readonly<Record<string, unknown>> }[]>;

/** @param after id of the last row of the page before */
export const pages = {
  users: (tx: Tx, after: string, most: number): Page =>
    tx.rows`select to_json(t) as row from :schema.users t where id > ${after}::uuid order by id limit ${most}`,
  identities: (tx: Tx, after: string, most: number): Page =>
    tx.rows`select to_json(t) as row from :schema.identities t where id > ${after}::uuid order by id limit ${most}`,
  mfa_factors: (tx: Tx, after: string, most: number): Page =>
    tx.rows`select to_json(t) as row from :schema.mfa_factors t where id > ${after}::uuid order by id limit ${most}`,
  sessions: (tx: Tx, after: string, most: number): Page =>
    tx.rows`select to_json(t) as row from :schema.sessions t where id > ${after}::uuid order by id limit ${most}`,
  mfa_amr_claims: (tx: Tx, after: string, most: number): Page =>
    tx.rows`select to_json(t) as row from :schema.mfa_amr_claims t where id > ${after}::uuid order by id limit ${most}`,
  refresh_tokens: (tx: Tx, after: string, most: number): Page =>
    tx.rows`select to_json(t) as row from :schema.refresh_tokens t where id > ${after}::bigint order by id limit ${most}`,
  audit_log_entries: (tx: Tx, after: string, most: number): Page =>
    tx.rows`select to_json(t) as row from :schema.audit_log_entries t where id > ${after}::uuid order by id limit ${most}`,
};

/** What a schema holds. */
export interface Holdings {
  name: string;
  /** Whether row-level security keeps rows from whoever asks: such a table looks empty. */
  isHidden: boolean;
  columns: string[];
}

/** The tables of the schema that whoever asks may know of. */
export function list(tx: Tx, schema: string): Promise<Holdings[]> {
  return tx.rows<Holdings>`
    select c.relname as name, row_security_active(c.oid) as "isHidden",
      array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)
        as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relkind in ('r', 'p')`;
}
