import type { AccessTokens } from '@croft/access-token';
import type { Clock, Log } from '@croft/runtime';
import type { Database } from '@croft/sql';
import type { AtRest } from './at-rest.ts';
import type { PasswordHasher } from './outside/password-hash.ts';
import type { RedirectPolicy } from './rules/redirect.ts';
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
  readonly passwords: PasswordHasher;
  readonly redirects: RedirectPolicy;
}
