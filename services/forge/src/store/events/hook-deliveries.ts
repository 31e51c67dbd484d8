import type { Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';
import type { HookRow } from './hooks.ts';

/** Something that was sent to a hook, or is to be. */
export type DeliveryRow = Tables['hook_deliveries'];

/** How an attempt went. */
export type Attempt = Pick<
  DeliveryRow,
  'attempts' | 'status' | 'request_headers' | 'response_headers' | 'response_body' | 'error'
>;

/** A delivery with its hook. */
export type DeliveryWithHook = Pick<DeliveryRow, 'id' | 'uuid' | 'event' | 'event_type' | 'delivered_at'> & {
  /** Null when it is large: it is loaded when it is its turn. */
  payload: string | null;
  hook: Pick<HookRow, 'type' | 'url' | 'content_type'>;
} & Pick<HookRow, 'secret' | 'authorization_header' | 'repository_id'> & { owner_kind: string | null };

/** Something that is to be sent to some hooks. */
export interface NewDeliveries {
  hookIds: readonly number[];
  event: string;
  eventType: string;
  payload: string;
}

/** Writes down what is to be sent to hooks, as far as they are still there, in its order. */
export function insertAll(
  tx: Tx,
  sent: readonly NewDeliveries[],
): Promise<{ id: number; hook_id: number }[]> {
  const messages = sent.map(({ event, eventType, payload }, position) => {
    return { position, event, event_type: eventType, payload };
  });
  const receivers = sent.flatMap(({ hookIds }, position) => hookIds.map((hookId) => ({ hookId, position })));
  return tx.rows<{ id: number; hook_id: number }>`
    insert into :schema.hook_deliveries (hook_id, uuid, event, event_type, payload, created_at)
    select h.id, gen_random_uuid(), m.event, m.event_type, m.payload, ${tx.now}
    from unnest(${receivers.map(({ hookId }) => hookId)}::bigint[],
        ${receivers.map(({ position }) => position)}::bigint[]) as r(hook_id, position)
      join json_to_recordset(${JSON.stringify(messages)}::json)
        as m(position bigint, event text, event_type text, payload text) on m.position = r.position
      join :schema.hooks h on h.id = r.hook_id
    order by r.position, h.id for key share of h
    returning id, hook_id`;
}

/** In bytes: what is longer is not loaded along with dozens of others. */
const LARGE_PAYLOAD = 64 * 1024;

/** What a delivery says; undefined when it is gone. */
export async function findPayload(tx: Tx, id: number): Promise<string | undefined> {
  const row = await tx.row<{ payload: string }>`
    select payload from :schema.hook_deliveries where id = ${id}`;
  return row?.payload;
}

/** Deliveries and where they go, by their ids. */
export async function mapWithHooks(tx: Tx, ids: readonly number[]): Promise<Map<number, DeliveryWithHook>> {
  const rows = await tx.rows<DeliveryWithHook>`
    select d.id, d.uuid, d.event, d.event_type, d.delivered_at,
      case when octet_length(d.payload) < ${LARGE_PAYLOAD} then d.payload end as payload,
      jsonb_build_object('type', h.type, 'url', h.url, 'content_type', h.content_type) as hook, h.secret,
      h.authorization_header, h.repository_id, o.kind as owner_kind
    from :schema.hook_deliveries d join :schema.hooks h on h.id = d.hook_id
      left join :schema.users o on o.id = h.owner_id
    where d.id = any(${ids}::bigint[])`;
  return new Map(rows.map((row) => [row.id, row]));
}

/** Writes down how an attempt went, after which there will be others. */
export async function recordAttempt(tx: Tx, id: number, attempt: Attempt): Promise<void> {
  await tx.run`
    update :schema.hook_deliveries set attempts = ${attempt.attempts}, status = ${attempt.status},
      request_headers = ${json(attempt.request_headers)}, response_headers = ${json(attempt.response_headers)},
      response_body = ${attempt.response_body}, error = ${attempt.error}
    where id = ${id}`;
}

/** How the last attempt of a delivery went, with its row of the outbox. */
export type End = Attempt & { id: number; outbox_id: number; succeeded: boolean };

/**
 * Writes down how last attempts went and takes their rows from the outbox: all or nothing. The ids come twice, since by
 * those inside of JSON the planner would read whole tables.
 */
export async function recordEnds(tx: Tx, ends: readonly End[]): Promise<void> {
  await tx.run`
    with ended as (
      select * from json_to_recordset(${JSON.stringify(ends)}::json) as e(id bigint, outbox_id bigint, attempts integer,
        status integer, request_headers jsonb, response_headers jsonb, response_body text, error text,
        succeeded boolean)
    ), finished as (delete from :schema.outbox where id = any(${ends.map((one) => one.outbox_id)}::bigint[]))
    update :schema.hook_deliveries d set attempts = e.attempts, status = e.status,
      request_headers = e.request_headers, response_headers = e.response_headers, response_body = e.response_body,
      error = e.error, delivered_at = ${tx.now}, succeeded = e.succeeded
    from ended e where d.id = e.id and d.id = any(${ends.map(({ id }) => id)}::bigint[])`;
}

/** What the payloads of a page have together, in bytes: events with long texts and many files have megabytes each. */
const PAGE_PAYLOADS = 16 * 1024 * 1024;

/** A page of the deliveries of a hook, newest first; a payload that no longer fits is empty, the first one always fits. */
export function list(
  tx: Tx,
  hookId: number,
  page: { limit: number; offset: number },
): Promise<DeliveryRow[]> {
  return tx.rows<DeliveryRow>`
    with page as (
      select * from :schema.hook_deliveries where hook_id = ${hookId}
      order by id desc limit ${page.limit} offset ${page.offset}
    ), measured as (
      select *, sum(octet_length(payload)) over up_to_here as bytes, row_number() over up_to_here as place from page
      window up_to_here as (order by id desc)
    )
    select id, hook_id, uuid, event, event_type, attempts, delivered_at, succeeded, status, request_headers,
      response_headers, response_body, error, created_at,
      case when bytes <= ${PAGE_PAYLOADS} or place = 1 then payload else '' end as payload
    from measured order by id desc`;
}

/** How many deliveries of a hook are kept. */
export async function count(tx: Tx, hookId: number): Promise<number> {
  const row = await tx.row<{ count: number }>`
    select count(*) from :schema.hook_deliveries where hook_id = ${hookId}`;
  return row?.count ?? 0;
}

/** A delivery of a hook. */
export function find(tx: Tx, hookId: number, id: number): Promise<DeliveryRow | undefined> {
  return tx.row<DeliveryRow>`
    select * from :schema.hook_deliveries where id = ${id} and hook_id = ${hookId}`;
}

/** Puts the rows of the outbox that wait for a hook into another lane. */
export async function changeLane(tx: Tx, topic: string, hookId: number, lane: string): Promise<void> {
  await tx.run`
    update :schema.outbox set lane = ${lane}
    where topic = ${topic} and (payload->>'delivery')::bigint in (
      select id from :schema.hook_deliveries where hook_id = ${hookId} and delivered_at is null)`;
}

/**
 * Ends some of the deliveries from before `before` that wait, beyond the newest `kept` of each hook, and takes their rows from the
 * outbox; returns how many. Those that somebody brings to their end right now are his.
 */
export function giveUp(
  tx: Tx,
  topic: string,
  { kept, before, most }: { kept: number; before: Date; most: number },
): Promise<number> {
  return tx.run`
    with waiting as (
      select id from :schema.hook_deliveries where id = any(array(
        select old.id from :schema.hooks h cross join lateral (
          select id, created_at from :schema.hook_deliveries d where d.hook_id = h.id and d.delivered_at is null
          order by d.id desc offset ${kept}) old
        where old.created_at < ${before}::timestamptz order by old.id limit ${most}))
      for update skip locked
    ), unqueued as (
      delete from :schema.outbox
      where topic = ${topic} and (payload->>'delivery')::bigint in (select id from waiting)
    )
    update :schema.hook_deliveries d
    set delivered_at = ${tx.now}, succeeded = false, error = 'given up: newer ones wait'
    from waiting w where d.id = w.id`;
}

/** Ends the deliveries whose rows of the outbox were parked: there will be no other attempt. The rows stay, to be looked at. */
export async function endParked(tx: Tx, topic: string): Promise<void> {
  await tx.run`
    update :schema.hook_deliveries d
    set delivered_at = ${tx.now}, succeeded = false, error = 'given up: it could not be sent'
    from :schema.outbox o
    where o.topic = ${topic} and o.parked_at is not null and d.id = (o.payload->>'delivery')::bigint
      and d.delivered_at is null`;
}

/** Removes some of the deliveries that ended, beyond the newest `kept` of each hook; returns how many. */
export function deleteOld(tx: Tx, kept: number, most: number): Promise<number> {
  return tx.run`
    delete from :schema.hook_deliveries where id in (
      select old.id from :schema.hooks h cross join lateral (
        select id from :schema.hook_deliveries d where d.hook_id = h.id and d.delivered_at is not null
        order by d.id desc offset ${kept} limit ${most}) old
      limit ${most})`;
}

const json = (value: unknown) => (value === null ? null : JSON.stringify(value));
