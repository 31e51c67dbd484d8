import { once } from 'node:events';
import type { Call, Context } from '../context.ts';
import { watcherTooSlow } from '../failures-extras.ts';
import type { ExtraResultOf } from '../wire-extras.ts';

/** So many events wait for a watcher. */
const MAX_WAITING = 1000;

type Answer = ExtraResultOf<'Watch'>;

/**
 * Tells everything that happens from now on, until the call is ended.
 * @throws RESOURCE_EXHAUSTED when the caller reads too slowly
 */
export async function* watchHappenings(
  call: Call,
  { happenings, clock }: Context,
): AsyncGenerator<Answer, never> {
  const waiting: Answer[] = [];
  const more = new EventTarget();
  const { last, stop } = happenings.watch((event) => {
    // Whoever reads nothing would never see that he missed something.
    if (waiting.length >= MAX_WAITING) call.end(watcherTooSlow(MAX_WAITING));
    else waiting.push({ event });
    more.dispatchEvent(new Event('more'));
  });
  try {
    yield { ready: { id: last, time: clock.now().toISOString() } };
    for (;;) {
      call.signal.throwIfAborted();
      const next = waiting.shift();
      if (next !== undefined) yield next;
      else await once(more, 'more', { signal: call.signal }).catch(() => call.signal.throwIfAborted());
    }
  } finally {
    stop();
  }
}
