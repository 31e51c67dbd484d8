import { setTimeout as sleep } from 'node:timers/promises';
import { type Outbox, startOutbox } from '@croft/sql';
import {
  MERGED_HEAD,
  mergedHeadEffect,
  SCHEDULED_MERGE,
  scheduledMergeEffect,
} from '../auto-merge/scheduled-merge-effect.ts';
import type { Context } from '../context.ts';
import * as deliveries from '../store/events/hook-deliveries.ts';
import { HAPPENING } from './announce.ts';
import { happeningEffect } from './happening-effect.ts';
import { hookEffect } from './hook-effect.ts';
import { HOOK } from './send-to-hooks.ts';

/** Requests under way; a host that does not answer in time holds one of them. */
const SLOTS = 128;
const PER_HOST = 20;
/** Announcements under way; the more, the fewer statements each takes. */
const EXPANSIONS = 64;
const CLEAN_UP_MS = 600_000;
const BATCH = 500;
/** Given up in one statement, which reads all of the outbox. */
const GIVEN_UP = 10_000;
/** However much waits for a receiver, it has this long to answer: what comes at once may be more than is kept. */
const PATIENCE_MS = 3_600_000;

/** Starts working off what is announced: hooks, notifications, and the removal of old deliveries. */
export function startEvents(context: Context): { close(): Promise<void> } {
  const { database, log } = context;
  const outbox: Outbox = startOutbox({
    database,
    log,
    slots: SLOTS,
    perLane: PER_HOST,
    withoutLane: EXPANSIONS,
    handlers: {
      [HAPPENING]: happeningEffect(context),
      [HOOK]: hookEffect(context),
      [SCHEDULED_MERGE]: scheduledMergeEffect(context),
      [MERGED_HEAD]: mergedHeadEffect(context),
    },
  });
  const stop = new AbortController();
  const cleaning = cleanUp(context, stop.signal);
  return {
    async close() {
      stop.abort();
      await Promise.all([outbox.close(), cleaning]);
    },
  };
}

async function cleanUp(context: Context, stop: AbortSignal): Promise<void> {
  for (;;) {
    await sleep(CLEAN_UP_MS, undefined, { signal: stop, ref: false }).catch(() => {});
    if (stop.aborted) return;
    await removeOldDeliveries(context).catch((error: Error) =>
      context.log.warn({ reason: error.message }, 'old deliveries of webhooks were not removed'),
    );
  }
}

/**
 * Removes what the log of deliveries holds beyond its size, some at a time. What waits in it ends first: with the outbox, which gave
 * it up, or because a receiver that does not answer has more waiting than is kept.
 */
export async function removeOldDeliveries({ database, settings }: Context): Promise<void> {
  const kept = settings.WEBHOOK_KEPT_DELIVERIES;
  await deliveries.endParked(database.autocommit(), HOOK);
  const before = new Date(database.autocommit().now.getTime() - PATIENCE_MS);
  const old = { kept, before, most: GIVEN_UP };
  while ((await deliveries.giveUp(database.autocommit(), HOOK, old)) === GIVEN_UP);
  while ((await deliveries.deleteOld(database.autocommit(), kept, BATCH)) === BATCH);
}
