import type { Tx } from '@croft/sql';

/** Rows read at a time: each may have a megabyte or more. */
const ROWS = 100;

/** Names that come from the catalogue itself, as statements without values need them. */
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** Tables of a schema, in the order of their names; the ledger of migrations is none of them. */
export async function listTables(tx: Tx, schema: string): Promise<string[]> {
  const rows = await tx.rows<{ name: string }>`
    select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relkind = 'r' and c.relname <> 'croft_migrations' order by c.relname`;
  return rows.map(({ name }) => name);
}

/** Whether the schema holds anything at all. */
export async function isEmpty(tx: Tx, schema: string): Promise<boolean> {
  const row = await tx.row`
    select from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = ${schema} limit 1`;
  return row === undefined;
}

/** Migrations that were applied, in their order. */
export function listMigrations(tx: Tx): Promise<{ name: string; checksum: string }[]> {
  return tx.rows`select name, checksum from :schema.croft_migrations order by name`;
}

/** Columns of a table that are written, not computed. */
export async function listColumns(tx: Tx, schema: string, table: string): Promise<string[]> {
  const rows = await tx.rows<{ name: string }>`
    select a.attname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
      join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relname = ${table} and a.attnum > 0 and not a.attisdropped
      and a.attgenerated = '' order by a.attnum`;
  return rows.map(({ name }) => name);
}

/** Lets the transaction see the database as it is now, and only read. */
export async function freeze(tx: Tx): Promise<void> {
  await tx.script('set transaction isolation level repeatable read read only');
}

/** Rows of a table as JSON texts, some at a time. */
export async function* readRows(tx: Tx, schema: string, table: string): AsyncGenerator<string[]> {
  await tx.script(`declare rows_of_table no scroll cursor for
    select row_to_json(t)::text as line from ${quoted(schema)}.${quoted(table)} t`);
  for (;;) {
    const rows = await tx.rows<{ line: string }>`fetch 100 from rows_of_table`;
    if (rows.length > 0) yield rows.map(({ line }) => line);
    if (rows.length < ROWS) break;
  }
  await tx.script('close rows_of_table');
}

/** How far the sequences of a schema are. */
export function listSequences(tx: Tx, schema: string): Promise<{ name: string; value: number }[]> {
  return tx.rows`
    select sequencename::text as name, last_value::bigint as value from pg_sequences
    where schemaname = ${schema} and last_value is not null order by sequencename`;
}

/** Lets a sequence go on behind a value. */
export async function advance(tx: Tx, schema: string, sequence: string, value: number): Promise<void> {
  await tx.run`select setval(format('%I.%I', ${schema}::text, ${sequence}::text)::regclass, ${value}::bigint)`;
}

/** A reference between tables, and how it is made again. */
export interface ForeignKey {
  table: string;
  name: string;
  definition: string;
}

/**
 * Takes away what keeps rows from being brought in in any order: references, and triggers that count.
 * @returns the references, for `putBack`
 */
export async function lift(tx: Tx, schema: string): Promise<ForeignKey[]> {
  const keys = await tx.rows<ForeignKey>`
    select c.relname as table, k.conname as name, pg_get_constraintdef(k.oid) as definition
    from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and k.contype = 'f' order by c.relname, k.conname`;
  const statements = [
    ...keys.map(
      ({ table, name }) => `alter table ${quoted(schema)}.${quoted(table)} drop constraint ${quoted(name)}`,
    ),
    ...(await listTables(tx, schema)).map(
      (table) => `alter table ${quoted(schema)}.${quoted(table)} disable trigger user`,
    ),
  ];
  if (statements.length > 0) await tx.script(statements.join(';\n'));
  return keys;
}

/** Puts it back; PostgreSQL looks at every row. */
export async function putBack(tx: Tx, schema: string, keys: readonly ForeignKey[]): Promise<void> {
  const statements = [
    ...keys.map(
      ({ table, name, definition }) =>
        `alter table ${quoted(schema)}.${quoted(table)} add constraint ${quoted(name)} ${definition}`,
    ),
    ...(await listTables(tx, schema)).map(
      (table) => `alter table ${quoted(schema)}.${quoted(table)} enable trigger user`,
    ),
  ];
  if (statements.length > 0) await tx.script(statements.join(';\n'));
}

/** Brings in rows, a JSON array of objects. */
export async function insertRows(
  tx: Tx,
  schema: string,
  table: string,
  columns: readonly string[],
  json: string,
): Promise<void> {
  const names = columns.map(quoted).join(', ');
  const target = `${quoted(schema)}.${quoted(table)}`;
  await tx.script(`insert into ${target} (${names}) overriding system value
    select ${names} from json_populate_recordset(null::${target}, ${literal(json)}::json)`);
}
