import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@croft/runtime';
import type { Database } from '@croft/sql';
import type { AuthSettings } from '../settings.ts';
import { cleanUp } from './clean-up.ts';

/** What clean-up works with. */
interface CleanUpOptions {
  database: Database;
  log: Log;
  settings: AuthSettings;
  /** Told how many rows of a table went, such as to count them. */
  onAffected?: (table: string, rows: number) => void;
}

/** Clean-up that goes on until it is closed. */
export interface CleanUp {
  /**
   * Deletes everything that is expired now, batch by batch.
   * @returns the number of rows
   */
  runOnce(): Promise<number>;
  /** Ends it, after the batch under way. Safe to call twice. */
  close(): Promise<void>;
}

/** Batches without a longer rest; whatever is left waits for the next time. */
const MAX_BATCHES = 200;
/** Others have the database's attention between two batches. */
const REST_MS = 20;

/**
 * Deletes expired rows every `DB_CLEANUP_INTERVAL`, unless `DB_CLEANUP_ENABLED` is off: then only when told to. Of
 * several processes one works at a time.
 */
export function startCleanUp(options: CleanUpOptions): CleanUp {
  const { database, log, settings, onAffected = () => {} } = options;
  const stop = new AbortController();
  const runOnce = async (): Promise<number> => {
    let total = 0;
    for (let batch = 0; batch < MAX_BATCHES && !stop.signal.aborted; batch++) {
      const { rows, more } = await cleanUp(database, settings, onAffected);
      total += rows;
      if (!more) break;
      await rest(REST_MS, stop.signal);
    }
    if (total > 0) log.debug({ rows: total }, 'expired rows were deleted');
    return total;
  };
  const work = async (): Promise<void> => {
    // Processes that start together do not all come at the same moment.
    await rest(settings.DB_CLEANUP_INTERVAL * Math.random(), stop.signal);
    while (!stop.signal.aborted) {
      await runOnce().catch((error: unknown) =>
        log.warn({ err: error }, 'expired rows could not be deleted'),
      );
      await rest(settings.DB_CLEANUP_INTERVAL, stop.signal);
    }
  };
  const working = settings.DB_CLEANUP_ENABLED ? work() : Promise.resolve();
  return {
    runOnce,
    async close() {
      stop.abort();
      await working;
    },
  };
}

/** Ends early, and without an error, when it is over. */
async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
}
