import { type AccessTokens, accessTokens } from '@croft/access-token';
import { type OutgoingHttp, outgoingHttp } from '@croft/http/outgoing';
import { type Clock, type Log, StartError, systemClock } from '@croft/runtime';
import type { Secret } from '@croft/settings';
import { openDatabase } from '@croft/sql';
import { atRest } from './at-rest.ts';
import type { AuthContext } from './context.ts';
import { smsProviderUnavailable } from './failures.ts';
import { openHooks } from './hooks/open-hooks.ts';
import { tokenKeys } from './keys/token-keys.ts';
import { openLimits } from './limits/limits.ts';
import { openCaptcha } from './outside/captcha/captcha.ts';
import { leakedPasswords } from './outside/leaked-passwords.ts';
import { passwordHasher } from './outside/password-hash.ts';
import type { IdTokenSources } from './outside/providers/open-id-tokens.ts';
import type { Providers } from './outside/providers/open-providers.ts';
import { remoteVerification } from './outside/sms/sms.ts';
import { compileGlob } from './rules/redirects/glob.ts';
import type { AuthSettings } from './settings.ts';

/** What auth needs of the process it runs in. */
export interface AuthOptions {
  settings: AuthSettings;
  databaseUrl: string;
  /** Where captured mails and messages go. */
  dataFolder: string;
  log: Log;
  clock?: Clock;
  version: string;
  secrets: { atRestKey: Secret };
}

/** The tables of auth, as SQL. */
export const migrations = new URL('../migrations/', import.meta.url);

/**
 * Opens everything operations use; nothing listens and nothing is delivered yet.
 * @throws StartError when the keys of the settings cannot be used
 */
export function openContext(options: Omit<AuthOptions, 'dataFolder'>): AuthContext {
  const { settings, databaseUrl, log, clock = systemClock, version } = options;
  const userAgent = `Croft/${version}`;
  const http = outgoingHttp({ userAgent, trusted: addressesOf(settings) });
  const database = openDatabase({
    url: databaseUrl,
    schema: settings.DB_NAMESPACE,
    log,
    clock,
    poolSize: settings.DB_MAX_POOL_SIZE,
    prepare: settings.DB_PREPARE,
    // What a request started ends with it.
    statementTimeoutMs: Math.ceil(settings.API_MAX_REQUEST_DURATION),
  });
  return {
    settings,
    version,
    log,
    clock,
    database,
    accessTokens: accessTokensOf(settings, clock),
    atRest: atRest(options.secrets.atRestKey),
    redirects: { siteUrl: settings.SITE_URL, allowed: settings.URI_ALLOW_LIST.map(compileGlob) },
    limits: openLimits(settings, database, clock),
    outside: {
      passwords: passwordHasher(settings.PASSWORD_HASH),
      http,
      providers: lazyProviders(settings, http, clock),
      idTokens: lazyIdTokens(settings, http, clock),
      captcha: openCaptcha(settings, http),
      leaked: leakedPasswords(settings, http, clock),
      hooks: openHooks({ settings, databaseUrl, log, clock, userAgent }),
      verifySms: verification(settings, http),
    },
  };
}

function accessTokensOf(settings: AuthSettings, clock: Clock): AccessTokens {
  try {
    return accessTokens(tokenKeys(settings), () => clock.now().getTime());
  } catch (error) {
    throw new StartError(`AUTHSVC_JWT_KEYS: ${(error as Error).message}`);
  }
}

/** The 24 providers take longer to load than the rest of a start has time for, and most people use none. */
function lazyProviders(
  settings: AuthSettings,
  http: OutgoingHttp,
  clock: Clock,
): AuthContext['outside']['providers'] {
  let opened: Promise<Providers> | undefined;
  return {
    async find(name) {
      opened ??= import('./outside/providers/open-providers.ts').then(({ openProviders }) =>
        openProviders(settings, http, clock),
      );
      return (await opened).find(name);
    },
  };
}

/** Likewise for those whose ID tokens applications get themselves. */
function lazyIdTokens(
  settings: AuthSettings,
  http: OutgoingHttp,
  clock: Clock,
): AuthContext['outside']['idTokens'] {
  let opened: Promise<IdTokenSources> | undefined;
  return {
    async find(named) {
      opened ??= import('./outside/providers/open-id-tokens.ts').then(({ openIdTokens }) =>
        openIdTokens(settings, http, clock),
      );
      return (await opened).find(named);
    },
  };
}

/** For requests a provider that says nothing is a refusal like others. */
function verification(settings: AuthSettings, http: OutgoingHttp): AuthContext['outside']['verifySms'] {
  const verify = remoteVerification(settings, http);
  if (verify === undefined) return undefined;
  return (phone, code, signal) =>
    verify(phone, code, signal).catch((error: unknown) => {
      throw smsProviderUnavailable(error);
    });
}

/** What the service itself asks: providers, senders, checks, and mail templates, which may lie beneath the site. */
const ASKED =
  /^(SITE_URL|SMS_URL|SECURITY_CAPTCHA_URL|PASSWORD_HIBP_URL)$|^EXTERNAL_[A-Z_]+_URL$|^MAILER_TEMPLATES_/;

/** The addresses the operator wrote for that; they may be asked wherever they are. */
function addressesOf(settings: AuthSettings): string[] {
  const asked = Object.entries<unknown>(settings).flatMap(([name, value]) =>
    typeof value === 'string' && /^https?:\/\//.test(value) && ASKED.test(name) ? [value] : [],
  );
  return [...asked, ...settings.EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS.map(({ issuer }) => issuer)];
}
