import type pg from 'pg';
import { fromDriver, isDatabaseUnavailable } from './errors.ts';

/**
 * Watches over a connection from the pool until it goes back; one that was lost is not used again.
 * @param patienceMs how long `query` waits for the server's word, 0 for ever. One timer serves all statements: each with one of its own
 *   would take some microseconds longer to send
 */
export function hold(client: pg.PoolClient, patienceMs = 0) {
  let broken: Error | undefined;
  let unanswered = 0;
  // The statement under way rejects; the event says the same again and, unheard, would end the process.
  const discard = (reason: Error): void => {
    broken = reason;
  };
  client.on('error', discard);
  // With an answer outstanding this hangs up at once, and all that wait for one are told.
  const hangUp = () => unanswered > 0 && void client.end();
  const timer = patienceMs > 0 ? setTimeout(hangUp, patienceMs) : undefined;
  return {
    discard,
    async query(command: pg.QueryConfig, isUnlimited = false): Promise<pg.QueryResult> {
      if (!isUnlimited && unanswered++ === 0) timer?.refresh();
      try {
        return await client.query(command);
      } catch (error) {
        throw fromDriver(error);
      } finally {
        // The next one of several begins only now.
        if (!isUnlimited && --unanswered > 0) timer?.refresh();
      }
    },
    /** @param error what the last statement ended with: a server that says goodbye is about to hang up */
    release(error?: unknown): void {
      clearTimeout(timer);
      client.off('error', discard);
      client.release(broken ?? isDatabaseUnavailable(error));
    },
  };
}
