import { setTimeout as sleep } from 'node:timers/promises';
import { closeGracefully, listen } from '@croft/http';
import { type RunningService, systemClock } from '@croft/runtime';
import { migrate, type Outbox, openDatabase, startOutbox } from '@croft/sql';
import { createAuthApp } from './app.ts';
import { type CleanUp, startCleanUp } from './cleanup/start-clean-up.ts';
import { effectHandlers } from './effects/handlers.ts';
import { type AuthOptions, migrations, openContext } from './open-context.ts';
import { chooseMailer } from './outside/mail/mailer.ts';
import { openSms } from './outside/sms/sms.ts';
import { openAuthTelemetry } from './telemetry.ts';

/**
 * Starts auth: the schema is brought up to date, mails are delivered, and requests are answered when this returns.
 * @throws StartError when the settings or the address cannot be used
 */
export async function startAuth(options: AuthOptions): Promise<RunningService> {
  const { settings, dataFolder, log, clock = systemClock } = options;
  const mailer = chooseMailer(settings, dataFolder, log, clock);
  const context = openContext(options);
  const { database, limits } = context;
  const sms = openSms(settings, context.outside.http, dataFolder, log, clock);
  const telemetry = await openAuthTelemetry({ settings, version: options.version, log });
  let outbox: Outbox | undefined;
  let cleanUp: CleanUp | undefined;
  try {
    await migrate(database, migrations);
    outbox = startOutbox({ database, handlers: effectHandlers(context, { mailer, sms }), log });
    const app = await createAuthApp(context, telemetry);
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
    const close = async (graceMs: number): Promise<void> => {
      await closeGracefully(app, graceMs);
      await Promise.all([telemetry?.close(), limits.close?.(), cleanUp?.close()]);
      // A delivery that takes longer is repeated by whoever takes the row after its lease.
      await Promise.race([outbox?.close(), sleep(graceMs, undefined, { ref: false })]);
      await mailer.close();
      await database.close();
    };
    return { name: 'auth', address, close: (graceMs) => (closed ??= close(graceMs)) };
  } catch (error) {
    await Promise.all([outbox?.close(), telemetry?.close(), limits.close?.(), cleanUp?.close()]);
    await mailer.close();
    await database.close();
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
    return await migrate(database, migrations);
  } finally {
    await database.close();
  }
}
