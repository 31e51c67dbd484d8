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
export type DeliveryWithHook = DeliveryRow & { hook: Pick<HookRow, 'type' | 'url' | 'content_type'> } & Pick<
    HookRow,
    'secret' | 'authorization_header' | 'repository_id'
  > & { owner_kind: string | null };

/** Writes down what is to be sent to some hooks, as far as they are still there. */
export function insert(
  tx: Tx,
  delivery: { hookIds: readonly number[]; event: string; eventType: string; payload: string },
): Promise<{ id: number; hook_id: number }[]> {
  return tx.rows<{ id: number; hook_id: number }>`
    insert into :schema.hook_deliveries (hook_id, uuid, event, event_type, payload, created_at)
    select id, gen_random_uuid(), ${delivery.event}, ${delivery.eventType}, ${delivery.payload}, ${tx.now}
    from :schema.hooks where id = any(${delivery.hookIds}::bigint[]) order by id for key share
    returning id, hook_id`;
}

/** A delivery and where it goes. */
export function findWithHook(tx: Tx, id: number): Promise<DeliveryWithHook | undefined> {
  return tx.row<DeliveryWithHook>`
    select d.*, jsonb_build_object('type', h.type, 'url', h.url, 'content_type', h.content_type) as hook, h.secret,
      h.authorization_header, h.repository_id, o.kind as owner_kind
    from :schema.hook_deliveries d join :schema.hooks h on h.id = d.hook_id
      left join :schema.users o on o.id = h.owner_id
    where d.id = ${id}`;
}

/** Writes down how an attempt went, after which there will be others. */
export async function recordAttempt(tx: Tx, id: number, attempt: Attempt): Promise<void> {
  await tx.run`
    update :schema.hook_deliveries set attempts = ${attempt.attempts}, status = ${attempt.status},
      request_headers = ${json(attempt.request_headers)}, response_headers = ${json(attempt.response_headers)},
      response_body = ${attempt.response_body}, error = ${attempt.error}
    where id = ${id}`;
}

/** Writes down how the last attempt went and takes its row from the outbox: both or nothing. */
export async function recordEnd(
  tx: Tx,
  id: number,
  outboxId: number,
  attempt: Attempt & { succeeded: boolean },
): Promise<void> {
  await tx.run`
    with finished as (delete from :schema.outbox where id = ${outboxId})
    update :schema.hook_deliveries set attempts = ${attempt.attempts}, status = ${attempt.status},
      request_headers = ${json(attempt.request_headers)}, response_headers = ${json(attempt.response_headers)},
      response_body = ${attempt.response_body}, error = ${attempt.error}, delivered_at = ${tx.now},
      succeeded = ${attempt.succeeded}
    where id = ${id}`;
}

/** A page of the deliveries of a hook, newest first. */
export function list(
  tx: Tx,
  hookId: number,
  page: { limit: number; offset: number },
): Promise<DeliveryRow[]> {
  return tx.rows<DeliveryRow>`
    select * from :schema.hook_deliveries where hook_id = ${hookId}
    order by id desc limit ${page.limit} offset ${page.offset}`;
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
