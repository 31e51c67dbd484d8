import type { Context } from '../context.ts';
import { sendAgain } from '../events/send-to-hooks.ts';
import { notFound } from '../failures.ts';
import * as deliveries from '../store/events/hook-deliveries.ts';
import type { HookRow } from '../store/events/hooks.ts';
import { deliveryJson } from './delivery-json.ts';

/**
 * Sends something once more, as a delivery of its own.
 * @throws 404 for a delivery that is not the hook's, or is not kept any more
 */
export async function redeliver(
  { database }: Context,
  hook: HookRow,
  deliveryId: number,
): Promise<ReturnType<typeof deliveryJson>> {
  const made = await database.transaction(async (tx) => {
    const before = await deliveries.find(tx, hook.id, deliveryId);
    if (before === undefined) return undefined;
    return await sendAgain(tx, hook, before);
  });
  const row = made === undefined ? undefined : await deliveries.find(database.autocommit(), hook.id, made);
  if (row === undefined) throw notFound();
  return deliveryJson(row);
}
