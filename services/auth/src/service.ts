import { type App, closeGracefully, listen } from '@croft/http';
import { type RunningService, systemClock } from '@croft/runtime';
import { type Outbox, openDatabase, startOutbox } from '@croft/sql';
import type { Telemetry } from '@croft/telemetry';
import { createAuthApp } from './app.ts';
import { type CleanUp, startCleanUp } from './cleanup/start-clean-up.ts';
import { effectHandlers } from './effects/handlers.ts';
import { endUntil } from './ending.ts';
import { migrateTables } from './migrate-tables.ts';
import { type AuthOptions, openContext } from './open-context.ts';
import { chooseMailer } from './outside/mail/mailer.ts';
import { openSms } from './outside/sms/sms.ts';
import { pairAtRestKey } from './pair-at-rest-key.ts';
import { doubtsAboutAuthSettings } from './settings/index.ts';
import { openAuthTelemetry } from './telemetry.ts';

/**
 * Starts auth: the schema is brought up to date, mails are delivered, and requests are answered when this returns.
 * @throws StartError when the settings or the address cannot be used
 */
export async function startAuth(options: AuthOptions): Promise<RunningService> {
  const { settings, dataFolder, log, clock = systemClock, version } = options;
  for (const doubt of doubtsAboutAuthSettings(settings)) log.warn({}, doubt);
  const mailer = chooseMailer(settings, dataFolder, log, clock);
  const context = openContext(options);
  const { database, limits } = context;
  let app: App | undefined;
  let telemetry: Telemetry | undefined;
  let outbox: Outbox | undefined;
  let cleanUp: CleanUp | undefined;

  async function close(graceMs: number): Promise<void> {
    const end = endUntil(performance.now() + graceMs, log);
    await end({ requests: app && closeGracefully(app, graceMs) });
    // A delivery that takes longer is repeated by whoever takes the row after its lease.
    await end({ outbox: outbox?.close(), cleanUp: cleanUp?.close(), limits: limits.close?.() });
    await end({ telemetry: telemetry?.close(), mailer: mailer.close() });
    await end({ database: database.close(), hooks: context.outside.hooks.close() });
  }

  try {
    const sms = openSms(settings, context.outside.http, dataFolder, log, clock);
    telemetry = await openAuthTelemetry({ settings, version, log });
    await migrateTables(database, settings);
    await pairAtRestKey(context);
    outbox = startOutbox({ database, handlers: effectHandlers(context, { mailer, sms }), log });
    app = await createAuthApp(context, telemetry);
    const at = { host: settings.API_HOST, port: settings.API_PORT, portSetting: 'AUTHSVC_API_PORT' };
    const address = await listen(app, at, '/health');
    const cleaned = telemetry?.counter('auth.cleanup.affected_rows', 'Rows the clean-up removed.');
    cleanUp = startCleanUp({
      database,
      log,
      settings,
      onAffected: (table, rows) => cleaned?.add(rows, { table }),
    });
    let closed: Promise<void> | undefined;
    return { name: 'auth', address, close: (graceMs) => (closed ??= close(graceMs)) };
  } catch (error) {
    await close(0);
    throw error;
  }
}

/**
 * Brings the schema up to date.
 * @returns the names of the migrations that were applied now
 */
export async function migrateAuth(
  options: Pick<AuthOptions, 'settings' | 'databaseUrl' | 'log'>,
): Promise<string[]> {
  const { settings, databaseUrl, log } = options;
  const database = openDatabase({ url: databaseUrl, schema: settings.DB_NAMESPACE, log, poolSize: 1 });
  try {
    return await migrateTables(database, settings);
  } finally {
    await database.close();
  }
}
