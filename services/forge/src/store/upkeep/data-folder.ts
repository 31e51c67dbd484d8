import { quoteIdentifier, type Tx } from '@croft/sql';

const PREFIX = 'data folder ';

/**
 * The id of the data folder that belongs to the schema. It is a comment of the ledger of migrations, not a row: a dump of the
 * schema takes it along, and our own backup does not, so that a restore makes a new pair of schema and folder.
 */
export async function findId(tx: Tx, schema: string): Promise<string | undefined> {
  const row = await tx.row<{ comment: string | null }>`
    select obj_description(c.oid, 'pg_class') as comment
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relname = 'croft_migrations'`;
  const comment = row?.comment ?? '';
  return comment.startsWith(PREFIX) ? comment.slice(PREFIX.length) : undefined;
}

/** Writes the id down unless there is one already; returns the one that is there then. */
export async function insertId(tx: Tx, schema: string, id: string): Promise<string> {
  await tx.run`select pg_advisory_xact_lock(hashtext('croft data folder of ' || ${schema}))`;
  const other = await findId(tx, schema);
  if (other !== undefined) return other;
  const comment = `${PREFIX}${id}`.replaceAll("'", "''");
  await tx.script(`comment on table ${quoteIdentifier(schema)}.croft_migrations is '${comment}'`);
  return id;
}

/** Whether there is a repository that has a folder. */
export async function hasRepositories(tx: Tx): Promise<boolean> {
  return (await tx.row`select from :schema.repositories where state = 'ready' limit 1`) !== undefined;
}

/** The number that a repository got last; 0 before the first. */
export async function lastNumber(tx: Tx): Promise<number> {
  const row = await tx.row<{ last: number }>`
    select coalesce(pg_sequence_last_value(pg_get_serial_sequence(':schema.repositories', 'id')), 0)::int8 as last`;
  return Number(row?.last);
}

/** Gives new repositories numbers beyond this one. */
export async function skipNumbers(tx: Tx, last: number): Promise<void> {
  // Nobody gets one meanwhile that would be given again.
  await tx.run`lock table :schema.repositories in share row exclusive mode`;
  const next = Math.max(last, await lastNumber(tx));
  await tx.run`select setval(pg_get_serial_sequence(':schema.repositories', 'id'), ${next}::int8)`;
}
