import type { Log } from '@croft/runtime';
import type { Storage } from '../outside/storage/storage.ts';
import type { Intent } from '../rules/states/reconcile.ts';
import { statesOf } from './save-states.ts';

/**
 * Completes at start the saves that made all their members and then lost power, before or after they were told as done: what was
 * begun says the rest.
 * @returns those that cannot be completed now; what they made stays
 */
export async function completeSaves(
  intents: readonly Intent[],
  storage: Storage,
  log: Log,
): Promise<readonly Intent[]> {
  const incomplete: Intent[] = [];
  for (const intent of intents) {
    const { id, plan } = intent;
    if (plan === undefined) continue;
    try {
      const snapshot = await storage.recover?.(id, plan.datasets);
      if (snapshot === undefined) continue;
      await storage.complete(statesOf(plan, snapshot));
      await storage.lasting?.();
      log.warn({}, `the save of state ${id} was cut off at its end and is complete now`);
    } catch (error) {
      log.error({ err: error, save: id }, 'a save could not be completed: the next start tries again');
      incomplete.push(intent);
    }
  }
  return incomplete;
}
