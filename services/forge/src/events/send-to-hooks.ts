import { enqueueAll, type OutboxRow, type Tx } from '@croft/sql';
import { coarseEvent } from '../rules/events/hook-events.ts';
import * as deliveries from '../store/events/hook-deliveries.ts';
import type { HookRow } from '../store/events/hooks.ts';
import type { HookMessage } from './write-messages.ts';

/** Topic of the outbox under which deliveries to hooks wait. */
export const HOOK = 'hook';

/** A message and the hooks it is for. */
export interface Sending {
  message: Pick<HookMessage, 'type' | 'payload'>;
  receivers: readonly HookRow[];
}

/** Writes down messages for hooks and puts them on their way, in their order. */
export async function sendToHooks(tx: Tx, sendings: readonly Sending[]): Promise<void> {
  const received = sendings.filter(({ receivers }) => receivers.length > 0);
  const written = received.map(({ message: { type, payload }, receivers }) => ({
    hookIds: receivers.map(({ id }) => id),
    event: coarseEvent(type),
    eventType: type,
    payload: JSON.stringify(payload),
  }));
  await putOnTheirWay(
    tx,
    written,
    received.flatMap(({ receivers }) => receivers),
  );
}

/** Sends what was sent before to the same hook; returns the id of the new delivery. */
export async function sendAgain(
  tx: Tx,
  hook: HookRow,
  before: deliveries.DeliveryRow,
): Promise<number | undefined> {
  const { event, event_type: eventType, payload } = before;
  const [id] = await putOnTheirWay(tx, [{ hookIds: [hook.id], event, eventType, payload }], [hook]);
  return id;
}

/** Each in the lane of its host; returns the ids of the deliveries. */
async function putOnTheirWay(
  tx: Tx,
  written: readonly deliveries.NewDeliveries[],
  receivers: readonly HookRow[],
): Promise<number[]> {
  if (written.length === 0) return [];
  const made = await deliveries.insertAll(tx, written);
  const hosts = new Map(receivers.map(({ id, url }) => [id, new URL(url).host]));
  await enqueueAll(
    tx,
    HOOK,
    made.map(({ id, hook_id }) => ({ payload: { delivery: id }, lane: hosts.get(hook_id) ?? '' })),
  );
  return made.map(({ id }) => id);
}

/** The payload of an outbox row of topic `hook`. */
export const deliveryOf = (row: OutboxRow): number => (row.payload as { delivery: number }).delivery;
