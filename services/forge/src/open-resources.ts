import { join } from 'node:path';
import { accessTokens, readJwtKeys, type TokenKeys } from '@croft/access-token';
import { type Clock, type Log, StartError, systemClock } from '@croft/runtime';
import type { Secret } from '@croft/settings';
import { type Database, openDatabase } from '@croft/sql';
import type { Context } from './context.ts';
import { Links } from './links.ts';
import { Git } from './outside/git/git.ts';
import { passwordCheck } from './outside/password-check.ts';
import { MergeOutlooks } from './pulls/merge-outlook.ts';
import { Queues } from './queues.ts';
import type { ForgeSettings } from './settings.ts';

/** What the launcher gives the forge. */
export interface ForgeOptions {
  settings: ForgeSettings;
  databaseUrl: string;
  /** Repositories are in its folder `repositories`. */
  dataFolder: string;
  log: Log;
  clock?: Clock;
  version: string;
  /**
   * The auth service's tokens: the secret and the keys (`JWT_KEYS`, public parts suffice) they are signed with, of
   * which one suffices, and the roles whose bearers are site admins.
   */
  tokens: {
    secret?: Secret | undefined;
    keys?: Secret | undefined;
    /** `JWT_VALID_METHODS`; none are all. */
    algorithms?: readonly string[];
    adminRoles?: readonly string[];
  };
  /** Base address of the auth service, which checks passwords; undefined leaves tokens as the only credentials. */
  authUrl: string | undefined;
}

/** The pool of the forge's schema. */
export function openForgeDatabase({
  settings,
  databaseUrl,
  log,
  clock,
}: Pick<ForgeOptions, 'settings' | 'databaseUrl' | 'log' | 'clock'>): Database {
  return openDatabase({
    url: databaseUrl,
    schema: settings.DB_SCHEMA,
    log,
    poolSize: settings.DB_MAX_POOL_SIZE,
    prepare: settings.DB_PREPARE,
    ...(clock === undefined ? {} : { clock }),
  });
}

/** git on the repositories of the data folder. */
export function openGit({ settings, dataFolder, log }: ForgeOptions): Promise<Git> {
  return Git.open({
    folder: join(dataFolder, 'repositories'),
    command: settings.GIT_COMMAND,
    searchPath: settings.GIT_SEARCH_PATH,
    warmProcesses: settings.GIT_WARM_PROCESSES,
    log,
  });
}

/** Everything operations work with, made of what was opened. */
export function createContext(options: ForgeOptions, database: Database, git: Git): Context {
  const { settings, log, version, tokens, authUrl, clock = systemClock } = options;
  return {
    settings,
    database,
    git,
    links: new Links(settings.ROOT_URL ?? `http://${settings.HTTP_HOST}:${settings.HTTP_PORT}`),
    log,
    clock,
    version,
    identity: {
      accessTokens: accessTokens(keysOf(tokens), () => clock.now().getTime()),
      adminRoles: new Set(tokens.adminRoles ?? []),
      passwords: authUrl === undefined ? undefined : passwordCheck(authUrl),
    },
    outlooks: new MergeOutlooks(git),
    queues: new Queues(settings.GIT_HTTP_PROCESSES),
  };
}

/** @throws StartError when the keys cannot be used */
function keysOf({ secret, keys, algorithms }: ForgeOptions['tokens']): TokenKeys {
  try {
    return {
      secret: secret?.reveal(),
      keys: keys === undefined ? undefined : readJwtKeys(keys.reveal()),
      algorithms,
    };
  } catch (error) {
    throw new StartError(`The keys of access tokens (JWT_KEYS): ${(error as Error).message}`);
  }
}
