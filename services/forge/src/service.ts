import { setTimeout as sleep } from 'node:timers/promises';
import { type App, closeGracefully, listen } from '@croft/http';
import type { RunningService } from '@croft/runtime';
import { checkMigrations, type Database, migrate } from '@croft/sql';
import { createForgeApp } from './app.ts';
import { settleAttachments } from './attachments/settle-attachments.ts';
import type { Context } from './context.ts';
import { startEvents } from './events/start-events.ts';
import { settlePushes } from './git-http/record-push.ts';
import { API_PREFIX } from './links.ts';
import { startMaintenance } from './maintenance/maintain-repositories.ts';
import { checkDataFolder, pairDataFolder, skipTakenNumbers } from './maintenance/pair-data-folder.ts';
import { startMergeQueues } from './merge-queue/start-merge-queues.ts';
import { createContext, type ForgeOptions, openForgeDatabase, openGit } from './open-resources.ts';
import { settleMerges } from './pulls/settle-merges.ts';
import { settlePulls } from './pulls/sync-pulls.ts';
import { settleRepositories } from './repositories/settle-repositories.ts';

const LAST_WORDS_MS = 5_000;
const MIGRATIONS = new URL('../migrations/', import.meta.url);

/** Starts the forge and returns once it has answered a request. */
export async function startForge(options: ForgeOptions): Promise<RunningService> {
  const { settings } = options;
  await using opened = new AsyncDisposableStack();
  const database = opened.adopt(openForgeDatabase(options), (one) => one.close());
  // The broker's process needs as long to come up as auth, and as the tables need to be looked at. Those come after
  // auth's: both make the same extension of the database.
  const [git, prepared] = await Promise.allSettled([openGit(options), prepare(database, options)]);
  if (git.status === 'rejected') throw git.reason;
  opened.adopt(git.value, (one) => one.close());
  if (prepared.status === 'rejected') throw prepared.reason;
  const context = createContext({ ...options, authUrl: prepared.value }, database, git.value);
  await settle(context);

  const app = opened.adopt(await createForgeApp(context), (one) => closeGracefully(one, 0));
  // A connection with a push or clone on it may be still for as long as its program.
  app.server.timeout = Math.max(app.server.timeout, settings.GIT_IDLE_TIMEOUT);
  const at = { host: settings.HTTP_HOST, port: settings.HTTP_PORT, portSetting: 'FORGE_HTTP_PORT' };
  const address = await listen(app, at, `${API_PREFIX}/version`);
  context.links.root = settings.ROOT_URL ?? address;
  const events = startEvents(context);
  const maintenance = startMaintenance(context);
  const mergeQueues = startMergeQueues(context);
  opened.move();
  return runningForge(address, app, context, [events, maintenance, mergeQueues]);
}

/** Brings the tables up to date and returns the names of the migrations that were applied. */
export async function migrateForge(
  options: Pick<ForgeOptions, 'settings' | 'databaseUrl' | 'log'>,
): Promise<string[]> {
  const database = openForgeDatabase(options);
  try {
    return await migrate(database, MIGRATIONS);
  } finally {
    await database.close();
  }
}

/**
 * Looks whether a task can work beside a forge: with the tables that are there, and the data folder that belongs to them.
 * @throws StartError when it cannot
 */
export async function checkForge(
  options: Pick<ForgeOptions, 'settings' | 'databaseUrl' | 'dataFolder' | 'log'>,
): Promise<void> {
  const database = openForgeDatabase(options);
  try {
    await checkMigrations(database, MIGRATIONS);
    await checkDataFolder(database, options.dataFolder);
  } finally {
    await database.close();
  }
}

/** Brings the tables up to date once it is known where auth answers. */
async function prepare(
  database: Database,
  { authUrl, dataFolder, log }: Pick<ForgeOptions, 'authUrl' | 'dataFolder' | 'log'>,
): Promise<string | undefined> {
  const address = await authUrl;
  await migrate(database, MIGRATIONS);
  await pairDataFolder(database, dataFolder);
  await skipTakenNumbers(database, dataFolder, log);
  return address;
}

/** Finishes or abandons what a crash left, before anybody can ask for it. */
async function settle(context: Context): Promise<void> {
  await settleRepositories(context);
  await settleAttachments(context);
  await settleMerges(context);
  await settlePulls(context);
  await settlePushes(context);
}

function runningForge(
  address: string,
  app: App,
  { database, git, queues }: Context,
  background: readonly { close(): Promise<void> }[],
): RunningService {
  let closed: Promise<void> | undefined;
  async function close(graceMs: number): Promise<void> {
    await closeGracefully(app, graceMs);
    // Pushes whose clients were cut off end now, and what they did is recorded still.
    await Promise.race([queues.drained(), sleep(LAST_WORDS_MS, undefined, { ref: false })]);
    // What a receiver is too slow for is sent again by the next start.
    const ended = Promise.all(background.map((one) => one.close()));
    await Promise.race([ended, sleep(LAST_WORDS_MS, undefined, { ref: false })]);
    await git.close();
    await database.close();
  }
  return {
    name: 'forge',
    address,
    close(graceMs) {
      closed ??= close(graceMs);
      return closed;
    },
  };
}
