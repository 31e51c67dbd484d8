import { type Deliver, enqueueAll, finish, type OutboxRow, type Tx } from '@croft/sql';
import type { Context } from '../context.ts';
import { followHappening } from '../references/follow-happening.ts';
import { coarseEvent } from '../rules/events/hook-events.ts';
import { interestsHook } from '../rules/events/hook-filter.ts';
import * as deliveries from '../store/events/hook-deliveries.ts';
import * as hooks from '../store/events/hooks.ts';
import * as notifications from '../store/events/notifications.ts';
import type { Happening } from './announce.ts';
import { noticeOf } from './notice.ts';
import { findPlace } from './place.ts';
import { eventTypesOf, type HookMessage, writeMessages } from './write-messages.ts';

/** Topic of the outbox under which deliveries to hooks wait. */
export const HOOK = 'hook';

/**
 * Works off what was announced: writes down what is to be sent to which hooks, and tells people. All of it and the
 * end of the announcement are one transaction, so however often it is begun, it happens once.
 */
export function happeningEffect(context: Context): Deliver {
  const { database } = context;
  return async (row, signal) => {
    const happening = row.payload as Happening;
    const place = await findPlace(context, happening);
    // Gone meanwhile, and nobody is left who could be told.
    if (place === undefined) return;
    // Before the end of the announcement, and as often as one likes: what it does again changes nothing.
    await followHappening(context, happening, place.issue, signal);
    const tx = database.autocommit();
    const interested = await hooks.listInterested(tx, place, eventTypesOf(happening, place), row.created_at);
    const messages = interested.length === 0 ? [] : await writeMessages(context, happening, place);
    const notice = await noticeOf(context, row.id, happening, place);
    await database.transaction(async (inside) => {
      // Whoever took the row over after its lease may have been faster.
      if (!(await finish(inside, row.id))) return;
      for (const message of messages) {
        const receivers = interested.filter((hook) => interestsHook(hook, message));
        await sendToHooks(inside, receivers, message);
      }
      if (notice !== undefined) await notifications.notify(inside, notice);
    });
    return 'finished';
  };
}

/** Writes down a message for some hooks and puts it on its way. */
export async function sendToHooks(
  tx: Tx,
  receivers: readonly hooks.HookRow[],
  { type, payload }: Pick<HookMessage, 'type' | 'payload'>,
): Promise<number[]> {
  if (receivers.length === 0) return [];
  const made = await deliveries.insert(tx, {
    hookIds: receivers.map(({ id }) => id),
    event: coarseEvent(type),
    eventType: type,
    payload: JSON.stringify(payload),
  });
  await enqueueDeliveries(tx, made, receivers);
  return made.map(({ id }) => id);
}

/** Sends what was sent before to the same hook; returns the id of the new delivery. */
export async function sendAgain(
  tx: Tx,
  hook: hooks.HookRow,
  before: deliveries.DeliveryRow,
): Promise<number | undefined> {
  const { event, event_type: eventType, payload } = before;
  const made = await deliveries.insert(tx, { hookIds: [hook.id], event, eventType, payload });
  await enqueueDeliveries(tx, made, [hook]);
  return made[0]?.id;
}

/** Puts deliveries on their way, each in the lane of its host. */
async function enqueueDeliveries(
  tx: Tx,
  made: readonly { id: number; hook_id: number }[],
  receivers: readonly Pick<hooks.HookRow, 'id' | 'url'>[],
): Promise<void> {
  const hosts = new Map(receivers.map(({ id, url }) => [id, new URL(url).host]));
  await enqueueAll(
    tx,
    HOOK,
    made.map(({ id, hook_id }) => ({ payload: { delivery: id }, lane: hosts.get(hook_id) ?? '' })),
  );
}

/** The payload of an outbox row of topic `hook`. */
export const deliveryOf = (row: OutboxRow): number => (row.payload as { delivery: number }).delivery;
