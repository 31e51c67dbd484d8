import { Failure } from '@croft/failure';
import { Slots, shareUnderWay } from '@croft/runtime';
import type { Git } from '../git.ts';

/** Programs for short questions that run at once; clients of clones and downloads have slots of their own. */
const AT_ONCE = 16;
/** Whoever asked has an answer by then, that it took too long. */
const PATIENCE_MS = 12_000;
const PLACES = 1024;

const turns = new WeakMap<Git, Slots>();

/**
 * Runs something that starts a program when it is its turn, so that no crowd of requests becomes one of programs, nor what one
 * asks for the waiting of everybody.
 */
export async function inTurn<T>(git: Git, work: () => Promise<T>): Promise<T> {
  const line = { places: PLACES, patienceMs: PATIENCE_MS, refuse };
  const slots = turns.get(git) ?? new Slots({ slots: AT_ONCE, line });
  turns.set(git, slots);
  const giveBack = await slots.take(shareUnderWay());
  try {
    return await work();
  } finally {
    giveBack();
  }
}

const refuse = () =>
  new Failure('unavailable', 'busy', 'too many questions to git at once', { retryAfterSeconds: 5 });
