import { AsyncLocalStorage } from 'node:async_hooks';
import diagnostics from 'node:diagnostics_channel';

const transaction = new AsyncLocalStorage<boolean>();
let guarding = false;

/**
 * Turns the guard on, once and for the life of the process: from now on whatever leaves the process inside a
 * database transaction fails. Tests and development turn it on; production does not pay for it.
 */
export function guardTransactions(): void {
  if (guarding) return;
  guarding = true;
  for (const [channel, what] of LEAVING_THE_PROCESS) {
    diagnostics.subscribe(channel, () => assertOutsideTransaction(what));
  }
}

/** What Node itself announces; a throwing subscriber becomes an uncaught exception, which is as loud as it gets. */
const LEAVING_THE_PROCESS = [
  ['http.client.request.start', 'an HTTP request'],
  ['undici:request:create', 'an HTTP request'],
  ['net.client.socket', 'a network connection (a second database connection counts)'],
  ['child_process', 'a child process'],
] as const;

/** Runs the body of a transaction, marked as such while the guard is on. */
export function insideTransaction<T>(work: () => Promise<T>): Promise<T> {
  return guarding ? transaction.run(true, work) : work();
}

/**
 * Every function of `outside/` says with this what it is about to do (house rule: a transaction touches only the
 * database, because a slow mail server would otherwise hold row locks).
 * @throws Error inside a transaction, while the guard is on
 */
export function assertOutsideTransaction(what: string): void {
  if (guarding && transaction.getStore() === true) {
    throw new Error(
      `${what} inside a database transaction: record an intent or an outbox row, and act after the commit`,
    );
  }
}
