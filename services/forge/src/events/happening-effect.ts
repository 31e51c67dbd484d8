import { type Deliver, finishAll, inBatches } from '@croft/sql';
import type { Context } from '../context.ts';
import { followHappening } from '../references/follow-happening.ts';
import { interestsHook } from '../rules/events/hook-filter.ts';
import * as notifications from '../store/events/notifications.ts';
import type { Happening } from './announce.ts';
import { eventLoads } from './event-loads.ts';
import { noticeOf } from './notice.ts';
import { findPlace } from './place.ts';
import { type Sending, sendToHooks } from './send-to-hooks.ts';
import { eventTypesOf, writeMessages } from './write-messages.ts';

/** What comes of something announced. */
interface Expansion {
  /** Row of the outbox, and of what grows with time. */
  eventId: number;
  sendings: Sending[];
  notice: notifications.Notice | undefined;
}

/** As many are written down in one transaction. */
const MOST = 64;
/** What happened together ends together: a merge is one that closes a pull request and one that moves a branch. */
const GATHER_MS = 5;

/**
 * Works off what was announced: writes down what is to be sent to which hooks, and tells people. All of it and the
 * end of the announcement are one transaction, so however often it is begun, it happens once. Announcements under way
 * together share statements and transactions.
 */
export function happeningEffect(context: Context): Deliver {
  const { database } = context;
  const loads = eventLoads(context);
  const record = inBatches({ most: MOST, gatherMs: GATHER_MS }, async (expansions: readonly Expansion[]) => {
    // In the order in which they were announced.
    const inOrder = [...expansions].sort((a, b) => a.eventId - b.eventId);
    await database.transaction(async (tx) => {
      // Whoever took a row over after its lease may have been faster.
      const finished = await finishAll(
        tx,
        inOrder.map(({ eventId }) => eventId),
      );
      const mine = inOrder.filter(({ eventId }) => finished.has(eventId));
      await sendToHooks(
        tx,
        mine.flatMap(({ sendings }) => sendings),
      );
      for (const { notice } of mine) if (notice !== undefined) await notifications.notify(tx, notice);
    });
    return expansions.map(() => 'finished' as const);
  });
  return async (row, signal) => {
    const happening = row.payload as Happening;
    const place = await findPlace(loads, happening);
    // Gone meanwhile, and nobody is left who could be told.
    if (place === undefined) return;
    // Before the end of the announcement, and as often as one likes: what it does again changes nothing.
    await followHappening(context, loads, happening, place, signal);
    const types: string[] = eventTypesOf(happening, place);
    const hooks = place.hooks.filter(
      (hook) => hook.created_at <= row.created_at && hook.events.some((event) => types.includes(event)),
    );
    const messages = hooks.length === 0 ? [] : await writeMessages(context, loads, happening, place);
    const sendings = messages.map((message) => {
      return { message, receivers: hooks.filter((hook) => interestsHook(hook, message)) };
    });
    const notice = await noticeOf(context, row.id, happening, place);
    return await record({ eventId: row.id, sendings, notice });
  };
}
