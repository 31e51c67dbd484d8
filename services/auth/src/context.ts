import type { AccessTokens } from '@croft/access-token';
import type { OutgoingHttp } from '@croft/http/outgoing';
import type { Clock, Log } from '@croft/runtime';
import type { Database } from '@croft/sql';
import type { AtRest } from './at-rest.ts';
import type { Limits } from './limits/limits.ts';
import type { Captcha } from './outside/captcha/captcha.ts';
import type { Hooks } from './outside/hooks/hook.ts';
import type { LeakedPasswords } from './outside/leaked-passwords.ts';
import type { PasswordHasher } from './outside/password-hash.ts';
import type { IdTokenSource, NamedIssuer } from './outside/providers/open-id-tokens.ts';
import type { Provider } from './outside/providers/provider.ts';
import type { SmsSender } from './outside/sms/outgoing.ts';
import type { RedirectPolicy } from './rules/redirects/redirect.ts';
import type { AuthSettings } from './settings.ts';

/** What every operation may use. */
export interface AuthContext {
  readonly settings: AuthSettings;
  readonly version: string;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly accessTokens: AccessTokens;
  readonly atRest: AtRest;
  readonly redirects: RedirectPolicy;
  readonly limits: Limits;
  readonly outside: Outside;
}

/** What takes time or leaves the process; an operation waits for it outside any transaction. */
export interface Outside {
  readonly passwords: PasswordHasher;
  readonly http: OutgoingHttp;
  /** External providers by their name; their code is loaded with the first sign-in that needs it. */
  readonly providers: { find(name: string): Promise<Provider> };
  /** Whose ID tokens are taken. */
  readonly idTokens: { find(named: NamedIssuer): Promise<IdTokenSource> };
  /** Undefined when the settings ask for none, as with the two below. */
  readonly captcha: Captcha | undefined;
  readonly leaked: LeakedPasswords | undefined;
  /** The operator's own code, where it is on. */
  readonly hooks: Hooks;
  /** Says whether a code is right that an SMS provider made. @throws Failure `sms_provider_unavailable` */
  readonly verifySms: SmsSender['verify'];
}
