import { timeLimit, withinTime } from '@croft/runtime';
import type { Database } from '@croft/sql';
import * as failures from '../failures/hooks.ts';
import type { Transport } from '../outside/hooks/hook.ts';
import type { HookName } from '../rules/hooks/hook-names.ts';
import { functionCall, limitTime } from '../store/hook-functions.ts';

/** Milliseconds a function may take, with the wait for a connection. */
export const FUNCTION_TIME_MS = 2_000;

/** A function of the service's own database that is asked, in the service's own role. */
export interface FunctionHook {
  hook: HookName;
  schema: string;
  name: string;
  /** One whose connections are for this hook alone: a function that hangs must keep nobody else from the database. */
  database: Database;
  /** Whether every connection of it ends statements after that time by itself. */
  isTimed: boolean;
}

/** Asks a function of the database, `jsonb` in and `jsonb` out. */
export function functionHook({ hook, database, isTimed, ...target }: FunctionHook): Transport {
  const call = functionCall(target);
  return async (question) => {
    const input = JSON.stringify(question);
    const deadline = performance.now() + FUNCTION_TIME_MS;
    const ask = async (): Promise<unknown> => {
      if (isTimed) return await call(database.autocommit(), input);
      return await database.transaction(async (tx) => {
        await limitTime(tx, Math.max(1, Math.ceil(deadline - performance.now())));
        return await call(tx, input);
      });
    };
    try {
      return await inTime(ask);
    } catch (error) {
      // Of all that can go wrong only the database itself has an answer of its own, as everywhere.
      switch (sqlState(error)) {
        case undefined:
          throw error;
        case QUERY_CANCELED:
          throw failures.hookTimedOut(FUNCTION_TIME_MS, error);
        default:
          throw failures.hookFailed(hook, error);
      }
    }
  };
}

/**
 * Ends the wait for a function when its time is over; one that has not begun until then, for others had all
 * connections, does not begin. One that had begun late may go on for as long again, until the database ends it.
 */
async function inTime<T>(work: () => Promise<T>): Promise<T> {
  const ofRequest = timeLimit();
  const late = Promise.withResolvers<never>();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    late.reject(failures.hookTimedOut(FUNCTION_TIME_MS));
  }, FUNCTION_TIME_MS);
  const limit = {
    get over() {
      return isLate || ofRequest?.over === true;
    },
  };
  try {
    return await Promise.race([withinTime(limit, work), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

const QUERY_CANCELED = '57014';

/** The code PostgreSQL gave an error; none of those that say that it is not there. */
function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown }).code;
  const isState = typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^(08|53|57P)/.test(code);
  return isState ? code : undefined;
}
