import { randomUUID } from 'node:crypto';
import { type OutgoingHttp, outgoingHttp } from '@croft/http/outgoing';
import { type Clock, type Log, reasonOf, StartError } from '@croft/runtime';
import { type Database, openDatabase } from '@croft/sql';
import { hookOutputUnusable, RefusedByHook } from '../failures/hooks.ts';
import type { Hook, Hooks, Transport } from '../outside/hooks/hook.ts';
import { type HookTiming, httpHook } from '../outside/hooks/http-hook.ts';
import { withinRequest } from '../outside/request-share.ts';
import { readHookAnswer, refusalIn } from '../rules/hooks/hook-answer.ts';
import { allHooks, type HookName, hookNames } from '../rules/hooks/hook-names.ts';
import { readHookTarget } from '../rules/hooks/hook-target.ts';
import { readWebhookKeys } from '../rules/hooks/webhook-signature.ts';
import { hookSettingsOf } from '../settings/hooks.ts';
import type { AuthSettings } from '../settings.ts';
import { FUNCTION_TIME_MS, functionHook } from './function-hook.ts';

/** What the protocol gives an endpoint: three attempts that begin two seconds apart, within five seconds. */
const TIMING: HookTiming = { totalMs: 5_000, attempts: 3, pauseMs: 2_000 };
/** Connections for the function of one hook; who finds none waits, and nobody who asks another hook does. */
const CONNECTIONS = 3;

/** What hooks are opened with. */
export interface HookOptions {
  settings: AuthSettings;
  databaseUrl: string;
  log: Log;
  clock: Clock;
  userAgent: string;
}

/**
 * Opens the hooks that are on; nothing is connected to before the first question.
 * @throws StartError when one is not where a hook can be
 */
export function openHooks(options: HookOptions): Hooks {
  const { settings, clock } = options;
  const databases: Database[] = [];
  let http: OutgoingHttp | undefined;
  const hooks: Partial<Record<HookName, Hook>> = {};
  for (const name of allHooks) {
    const { enabled, uri = '', secrets } = hookSettingsOf(settings, name);
    if (!enabled) continue;
    const target = targetOf(name, uri);
    if ('url' in target) {
      const keys = secrets === undefined ? [] : readWebhookKeys(secrets.reveal());
      http ??= outgoingHttp({ userAgent: options.userAgent, trusted: urlsOf(settings), keepAlive: true });
      const timing = { ...TIMING, totalMs: withinRequest(settings, TIMING.totalMs) };
      hooks[name] = hookOf(name, httpHook({ url: target.url, keys, http, clock, timing }), options);
    } else {
      const database = openHookDatabase(options);
      databases.push(database);
      const transport = functionHook({ hook: name, ...target, database, isTimed: settings.DB_PREPARE });
      hooks[name] = hookOf(name, transport, options);
    }
  }
  return {
    ...hooks,
    close: async () => void (await Promise.all(databases.map((database) => database.close()))),
  };
}

function targetOf(name: HookName, uri: string) {
  try {
    return readHookTarget(uri);
  } catch (error) {
    throw new StartError(`AUTHSVC_HOOK_${name.toUpperCase()}_URI ${(error as Error).message}`);
  }
}

/** What the operator wrote may be asked wherever it is. */
function urlsOf(settings: AuthSettings): string[] {
  return allHooks.flatMap((name) => hookSettingsOf(settings, name).uri ?? []);
}

function openHookDatabase({ settings, databaseUrl, log, clock }: HookOptions): Database {
  return openDatabase({
    url: databaseUrl,
    schema: settings.DB_NAMESPACE,
    log,
    clock,
    poolSize: CONNECTIONS,
    prepare: settings.DB_PREPARE,
    statementTimeoutMs: FUNCTION_TIME_MS,
  });
}

function hookOf(name: HookName, transport: Transport, { clock, log }: HookOptions): Hook {
  return async (input, { ip, id = randomUUID() }) => {
    const metadata = {
      uuid: id,
      time: clock.now().toISOString(),
      name: hookNames[name],
      ...(ip === null ? {} : { ip_address: ip }),
    };
    const said = await transport({ metadata, ...input }, id).catch((error: unknown) => {
      log.warn({ hook: name, id, reason: reasonOf(error) }, 'a hook gave no answer');
      throw error;
    });
    const answer = readHookAnswer(said);
    if (answer === undefined) throw hookOutputUnusable('Error unmarshaling JSON output.');
    const refusal = refusalIn(answer);
    if (refusal !== undefined) throw new RefusedByHook(refusal.status, refusal.message);
    return answer;
  };
}
