import { findMark, insertMark, type Tx } from '@croft/sql';

const KIND = 'data folder';

/** The id of the data folder that belongs to the schema. */
export function findId(tx: Tx, schema: string): Promise<string | undefined> {
  return findMark(tx, schema, KIND);
}

/** Writes the id down unless there is one already; returns the one that is there then. */
export function insertId(tx: Tx, schema: string, id: string): Promise<string> {
  return insertMark(tx, schema, KIND, id);
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
