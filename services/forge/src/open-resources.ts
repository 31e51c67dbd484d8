import { join } from 'node:path';
import { type AccessTokens, accessTokens, readJwtKeys, type TokenKeys } from '@croft/access-token';
import { outgoingHttp } from '@croft/http/outgoing';
import { type Clock, type Log, StartError, systemClock } from '@croft/runtime';
import { type Secret, sealing } from '@croft/settings';
import { type Database, openDatabase } from '@croft/sql';
import type { Context } from './context.ts';
import { Links } from './links.ts';
import { type AccountStatusCheck, accountStatusCheck } from './outside/account-status.ts';
import { Git } from './outside/git/git.ts';
import { passwordCheck } from './outside/password-check.ts';
import { generateSigningKey, readSigningKey, type SigningKey } from './outside/signing-key.ts';
import { webhookHosts } from './outside/webhook-hosts.ts';
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
  /** Key of what the database keeps encrypted. */
  atRestKey: Secret;
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
  /**
   * Base address of the auth service, which checks passwords; undefined leaves tokens as the only credentials. A promise
   * when that is starting, too.
   */
  authUrl: string | undefined | Promise<string | undefined>;
}

/** The same when it is known where the auth service is. */
type SituatedOptions = ForgeOptions & { authUrl: string | undefined };

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
export function createContext(options: SituatedOptions, database: Database, git: Git): Context {
  const { settings, log, version, atRestKey, tokens, authUrl, clock = systemClock } = options;
  const signing = accessTokens(keysOf(tokens), () => clock.now().getTime());
  return {
    settings,
    database,
    git,
    links: new Links(settings.ROOT_URL ?? `http://${settings.HTTP_HOST}:${settings.HTTP_PORT}`),
    log,
    clock,
    version,
    identity: {
      accessTokens: signing,
      adminRoles: new Set(tokens.adminRoles ?? []),
      passwords: authUrl === undefined ? undefined : passwordCheck(authUrl),
      accounts: accountStatus(options, signing, clock),
      signingKey: openSigningKey(options),
    },
    outlooks: new MergeOutlooks(git),
    webhooks: {
      http: outgoingHttp({
        userAgent: `croft/${version}`,
        trusted: [],
        allowed: webhookHosts(settings.WEBHOOK_ALLOWED_HOSTS),
        keepAlive: true,
      }),
      sealing: sealing(atRestKey, 'croft forge webhooks'),
    },
    queues: new Queues(settings.GIT_HTTP_PROCESSES),
  };
}

/** Life of a token that asks one question. */
const QUESTION_SECONDS = 60;

/** Who is banned or deleted is known to the auth service; asking it takes a token of an administrator. */
function accountStatus(
  { authUrl, tokens, log }: SituatedOptions,
  signing: AccessTokens,
  clock: Clock,
): AccountStatusCheck | undefined {
  const [role] = tokens.adminRoles ?? [];
  if (authUrl === undefined || role === undefined) return undefined;
  const adminToken = () =>
    signing.sign({ role, exp: Math.floor(clock.now().getTime() / 1000) + QUESTION_SECONDS });
  try {
    adminToken();
  } catch (error) {
    const reason = (error as Error).message;
    log.warn(
      { reason },
      'the auth service cannot be asked who was banned or deleted: nobody is refused for it',
    );
    return undefined;
  }
  return accountStatusCheck({ authUrl, adminToken, clock, log });
}

/** @throws StartError when it cannot be read */
function openSigningKey({ settings, dataFolder }: ForgeOptions): SigningKey | undefined {
  const { SIGNING_KEY: wanted } = settings;
  if (wanted === '') return undefined;
  const own = join(dataFolder, 'signing-key');
  try {
    if (wanted === 'generate') generateSigningKey(own);
    return readSigningKey(wanted === 'generate' ? own : wanted);
  } catch (error) {
    throw new StartError(`The key that signs commits (FORGE_SIGNING_KEY): ${(error as Error).message}`);
  }
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
