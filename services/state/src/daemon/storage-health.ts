import type { Storage } from '../outside/storage/storage.ts';
import type { Pool } from '../rules/states/save-plan.ts';

/** So long an answer holds for everybody who asks. */
const HOLDS_MS = 1000;

/**
 * How the storage is, for all who look at it: whoever asks while it is asked waits for the same answer, however long that takes,
 * so that a pool which does not answer keeps one question waiting and not one for each caller.
 */
export class StorageHealth {
  /** Why the storage cannot be used now; undefined when it can. */
  readonly trouble: () => Promise<string | undefined>;
  readonly space: () => Promise<readonly Pool[]>;

  constructor(storage: Storage) {
    this.trouble = shared(() => storage.trouble());
    this.space = shared(() => storage.space());
  }
}

/** One question at a time. A failure is not remembered: the next one may have more luck. */
function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: { readonly answer: Promise<T>; until: number } | undefined;
  return () => {
    if (asked !== undefined && performance.now() < asked.until) return asked.answer;
    const now = { answer: ask(), until: Number.POSITIVE_INFINITY };
    asked = now;
    now.answer.then(
      () => (now.until = performance.now() + HOLDS_MS),
      () => (now.until = 0),
    );
    return now.answer;
  };
}
