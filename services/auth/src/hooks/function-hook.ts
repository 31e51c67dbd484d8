import type { Database } from '@croft/sql';
import * as failures from '../failures/hooks.ts';
import type { Transport } from '../outside/hooks/hook.ts';
import type { HookName } from '../rules/hooks/hook-names.ts';
import { functionCall, limitTime } from '../store/hook-functions.ts';

/** Milliseconds a function may take. */
export const FUNCTION_TIME_MS = 2_000;

/** A function of the service's own database that is asked, in the service's own role. */
export interface FunctionHook {
  hook: HookName;
  schema: string;
  name: string;
  /** One whose connections are for hooks alone: functions that hang must not keep requests from the database. */
  database: Database;
  /** Whether every connection of it ends statements after that time by itself. */
  isTimed: boolean;
}

/** Asks a function of the database, `jsonb` in and `jsonb` out. */
export function functionHook({ hook, database, isTimed, ...target }: FunctionHook): Transport {
  const call = functionCall(target);
  return async (question) => {
    const input = JSON.stringify(question);
    try {
      if (isTimed) return await call(database.autocommit(), input);
      return await database.transaction(async (tx) => {
        await limitTime(tx, FUNCTION_TIME_MS);
        return await call(tx, input);
      });
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

const QUERY_CANCELED = '57014';

/** The code PostgreSQL gave an error; none of those that say that it is not there. */
function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown }).code;
  const isState = typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^(08|53|57P)/.test(code);
  return isState ? code : undefined;
}
