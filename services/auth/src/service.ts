import { setTimeout as sleep } from 'node:timers/promises';
import { accessTokens } from '@croft/access-token';
import { closeGracefully, listen } from '@croft/http';
import { type Clock, type Log, type RunningService, systemClock } from '@croft/runtime';
import type { Secret } from '@croft/settings';
import { migrate, type Outbox, openDatabase, startOutbox } from '@croft/sql';
import { createAuthApp } from './app.ts';
import { atRest } from './at-rest.ts';
import type { AuthContext } from './context.ts';
import { effectHandlers } from './effects.ts';
import { chooseMailer } from './outside/mail/mailer.ts';
import { passwordHasher } from './outside/password-hash.ts';
import { compileGlob } from './rules/glob.ts';
import type { AuthSettings } from './settings.ts';

/** What auth needs of the process it runs in. */
export interface AuthOptions {
  settings: AuthSettings;
  databaseUrl: string;
  /** Where captured mails go. */
  dataFolder: string;
  log: Log;
  clock?: Clock;
  version: string;
  secrets: { atRestKey: Secret };
}

/** The tables of auth, as SQL. */
export const migrations = new URL('../migrations/', import.meta.url);

/** Opens everything operations use; nothing listens and nothing is delivered yet. */
export function openContext(options: Omit<AuthOptions, 'dataFolder'>): AuthContext {
  const { settings, databaseUrl, log, clock = systemClock, version } = options;
  return {
    settings,
    version,
    log,
    clock,
    database: openDatabase({
      url: databaseUrl,
      schema: settings.DB_NAMESPACE,
      log,
      clock,
      poolSize: settings.DB_MAX_POOL_SIZE,
      prepare: settings.DB_PREPARE,
    }),
    accessTokens: accessTokens(settings.JWT_SECRET.reveal(), () => clock.now().getTime()),
    atRest: atRest(options.secrets.atRestKey),
    passwords: passwordHasher(),
    redirects: { siteUrl: settings.SITE_URL, allowed: settings.URI_ALLOW_LIST.map(compileGlob) },
  };
}

/**
 * Starts auth: the schema is brought up to date, mails are delivered, and requests are answered when this returns.
 * @throws StartError when the settings or the address cannot be used
 */
export async function startAuth(options: AuthOptions): Promise<RunningService> {
  const { settings, dataFolder, log, clock = systemClock } = options;
  const mailer = chooseMailer(settings, dataFolder, log, clock);
  const context = openContext(options);
  const { database } = context;
  let outbox: Outbox | undefined;
  try {
    await migrate(database, migrations);
    outbox = startOutbox({ database, handlers: effectHandlers(context.atRest, mailer), log });
    const app = await createAuthApp(context);
    const at = { host: settings.API_HOST, port: settings.API_PORT, portSetting: 'AUTHSVC_API_PORT' };
    const address = await listen(app, at, '/health');
    let closed: Promise<void> | undefined;
    const close = async (graceMs: number): Promise<void> => {
      await closeGracefully(app, graceMs);
      // A delivery that takes longer is repeated by whoever takes the row after its lease.
      await Promise.race([outbox?.close(), sleep(graceMs, undefined, { ref: false })]);
      await database.close();
    };
    return { name: 'auth', address, close: (graceMs) => (closed ??= close(graceMs)) };
  } catch (error) {
    await outbox?.close();
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
