import type { Tx } from './database.ts';
import { quoteIdentifier } from './statement.ts';

/**
 * What a service wrote on its schema to know it again by, such as the id of the data folder that belongs to it. It is a comment
 * of the ledger of migrations, not a row: a dump of the schema takes it along, and our own backup does not, so that a restore
 * makes a new pair.
 * @param kind what it begins with
 */
export async function findMark(tx: Tx, schema: string, kind: string): Promise<string | undefined> {
  const row = await tx.row<{ comment: string | null }>`
    select obj_description(c.oid, 'pg_class') as comment
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relname = 'croft_migrations'`;
  const comment = row?.comment ?? '';
  return comment.startsWith(`${kind} `) ? comment.slice(kind.length + 1) : undefined;
}

/** Writes a mark unless there is one already; returns the one that is there then. In a transaction. */
export async function insertMark(tx: Tx, schema: string, kind: string, mark: string): Promise<string> {
  await tx.run`select pg_advisory_xact_lock(hashtext('croft ' || ${kind} || ' of ' || ${schema}))`;
  const other = await findMark(tx, schema, kind);
  if (other !== undefined) return other;
  const comment = `${kind} ${mark}`.replaceAll("'", "''");
  await tx.script(`comment on table ${quoteIdentifier(schema)}.croft_migrations is '${comment}'`);
  return mark;
}
