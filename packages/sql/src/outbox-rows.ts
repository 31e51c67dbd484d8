import type { Tx } from './database.ts';

/** An effect that waits for delivery. */
export interface OutboxRow {
  id: number;
  topic: string;
  payload: unknown;
  attempts: number;
  created_at: Date;
}

/** Records an effect in the transaction of the change it announces; the worker is woken when that commits. */
export async function enqueue(tx: Tx, topic: string, payload: object): Promise<void> {
  await tx.run`
    with added as (
      insert into :schema.outbox (topic, payload, created_at, run_at)
      values (${topic}, ${JSON.stringify(payload)}, ${tx.now}, ${tx.now})
    )
    select pg_notify(${OUTBOX_CHANNEL}, '')`;
}

/** NOTIFY channels belong to the whole database; a worker that wakes for another schema's row finds nothing to do. */
export const OUTBOX_CHANNEL = 'croft_outbox';

/**
 * Takes due rows for `leaseMs`: a worker that dies lets its lease run out and the row is delivered by another, so
 * delivery is at least once and no transaction stays open meanwhile.
 */
export function takeDue(tx: Tx, limit: number, leaseMs: number): Promise<OutboxRow[]> {
  return tx.rows<OutboxRow>`
    update :schema.outbox set attempts = attempts + 1, run_at = ${new Date(tx.now.getTime() + leaseMs)}
    where id in (
      select id from :schema.outbox where parked_at is null and run_at <= ${tx.now}
      order by run_at, id limit ${limit} for update skip locked)
    returning id, topic, payload, attempts, created_at`;
}

/** The effect happened. */
export async function finish(tx: Tx, id: number): Promise<void> {
  await tx.run`delete from :schema.outbox where id = ${id}`;
}

/** The effect did not happen; it is tried again at `runAt`. */
export async function postpone(tx: Tx, id: number, runAt: Date, reason: string): Promise<void> {
  await tx.run`update :schema.outbox set run_at = ${runAt}, last_error = ${reason} where id = ${id}`;
}

/** The effect failed for good: kept and counted, but not tried again by itself. */
export async function park(tx: Tx, id: number, reason: string): Promise<void> {
  await tx.run`update :schema.outbox set parked_at = ${tx.now}, last_error = ${reason} where id = ${id}`;
}

/** How many effects wait and how many were given up. */
export async function countOutbox(tx: Tx): Promise<{ waiting: number; parked: number }> {
  const counts = await tx.row<{ waiting: number; parked: number }>`
    select count(*) filter (where parked_at is null) as waiting, count(parked_at) as parked from :schema.outbox`;
  return counts ?? { waiting: 0, parked: 0 };
}
