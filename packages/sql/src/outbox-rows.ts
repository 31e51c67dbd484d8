import type { Tx } from './database.ts';
import { type Fragment, fragment } from './statement.ts';

/** An effect that waits for delivery. */
export interface OutboxRow {
  id: number;
  topic: string;
  payload: unknown;
  /** Where it goes, as far as others go there too. */
  lane: string;
  attempts: number;
  created_at: Date;
}

/** Records an effect in the transaction of the change it announces; the worker is woken when that commits. */
export async function enqueue(tx: Tx, topic: string, payload: object): Promise<void> {
  await enqueueAll(tx, topic, [{ payload, lane: '' }]);
}

/** Records several effects of one topic. Those with the same lane, such as a host, wait for each other only. */
export async function enqueueAll(
  tx: Tx,
  topic: string,
  effects: readonly { payload: object; lane: string }[],
): Promise<void> {
  const each = fragment`
    select ${topic}::text, one->'payload', one->>'lane'
    from jsonb_array_elements(${JSON.stringify(effects)}::jsonb) with ordinality as all_of_them(one, position)
    order by position`;
  await tx.run`${enqueued(tx.now, each)}`;
}

/**
 * The same in the `with` of a statement that makes the change.
 * @param effects selects topic, payload and lane of each, in their order
 */
export function enqueued(now: Date, effects: Fragment): Fragment {
  return fragment`
    insert into :schema.outbox (topic, payload, lane, created_at, run_at)
    select topic, payload, lane, ${now}, ${now} from (${effects}) as effects (topic, payload, lane)
    returning pg_notify(${OUTBOX_CHANNEL}, '')`;
}

/** NOTIFY channels belong to the whole database; a worker that wakes for another schema's row finds nothing to do. */
export const OUTBOX_CHANNEL = 'croft_outbox';

/** How much may be taken. */
export interface Room {
  total: number;
  /** Of what has a lane. */
  laned: number;
  /** Of lanes that are not among the good, a row each. */
  unproven: number;
  /** Of each good lane in which nothing is under way. */
  perGoodLane: number;
  /** Lanes that did well the last time. */
  good: readonly string[];
  /** What is left of lanes in which something is under way. */
  lanes: readonly { lane: string; room: number }[];
}

/**
 * Takes due rows for `leaseMs`: a worker that dies lets its lease run out and the row is delivered by another, so
 * delivery is at least once and no transaction stays open meanwhile. Lanes are found one after the other in the index,
 * so it costs nothing that one of them is a million rows long. Among lanes that are not good chance decides: who has many with
 * old rows would always be first.
 */
export function takeDue(tx: Tx, room: Room, leaseMs: number): Promise<OutboxRow[]> {
  const { total, laned, unproven, perGoodLane, good, lanes } = room;
  return tx.rows<OutboxRow>`
    with recursive lanes (lane) as (
      (select lane from :schema.outbox where parked_at is null order by lane limit 1)
      union all
      select (select o.lane from :schema.outbox o where o.parked_at is null and o.lane > l.lane order by o.lane limit 1)
      from lanes l where l.lane is not null
    ), judged as (
      select l.lane, l.lane = '' or l.lane = any(${good}::text[]) as is_good, busy.room
      from lanes l
        left join unnest(${lanes.map(({ lane }) => lane)}::text[], ${lanes.map((lane) => lane.room)}::int[])
          as busy(lane, room) on busy.lane = l.lane
      where l.lane is not null and busy.room is distinct from 0
    ), drawn as (
      select * from judged where is_good
      union all
      (select * from judged j where not is_good and exists (
          select from :schema.outbox o where o.parked_at is null and o.lane = j.lane and o.run_at <= ${tx.now})
        order by random() limit ${unproven})
    ), due as (
      select one.id, one.run_at, d.lane, row_number() over (partition by d.lane = '' order by one.run_at, one.id) as place
      from drawn d cross join lateral (
        select o.id, o.run_at from :schema.outbox o
        where o.parked_at is null and o.lane = d.lane and o.run_at <= ${tx.now}
        order by o.run_at, o.id
        limit coalesce(d.room, case when d.is_good then ${perGoodLane}::int else 1 end)
        for update skip locked) one
    )
    update :schema.outbox set attempts = attempts + 1, run_at = ${new Date(tx.now.getTime() + leaseMs)}
    where id = any(array(
      select id from due where lane = '' or place <= ${laned} order by run_at, id limit ${total}))
    returning id, topic, payload, lane, attempts, created_at`;
}

/** The effect happened; false when it had been finished already, by whoever took it over after its lease. */
export async function finish(tx: Tx, id: number): Promise<boolean> {
  return (await finishAll(tx, [id])).size > 0;
}

/** The same for several effects; returns those that had not been finished already. */
export async function finishAll(tx: Tx, ids: readonly number[]): Promise<Set<number>> {
  const rows = await tx.rows<{ id: number }>`
    delete from :schema.outbox where id = any(${ids}::bigint[]) returning id`;
  return new Set(rows.map(({ id }) => id));
}

/** The effect is still on its way; whoever delivers it keeps it for `leaseMs` from now. */
export async function renew(tx: Tx, id: number, leaseMs: number): Promise<void> {
  await tx.run`update :schema.outbox set run_at = ${new Date(tx.now.getTime() + leaseMs)} where id = ${id}`;
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
