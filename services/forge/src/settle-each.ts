import { type Log, reasonOf } from '@croft/runtime';

/**
 * Settles what a crash left, one by one. One that cannot be settled is reported and stays for the next start: it
 * must not keep everybody else's repositories from being served.
 */
export async function settleEach<T extends object>(
  log: Log,
  what: string,
  rows: readonly T[],
  settle: (row: T) => Promise<void>,
): Promise<void> {
  for (const row of rows) {
    try {
      await settle(row);
    } catch (error) {
      const reason = reasonOf(error);
      log.error({ ...row, reason }, `could not settle an interrupted ${what}`);
    }
  }
}
