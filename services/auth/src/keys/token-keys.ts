import { readJwtKeys, type TokenKeys } from '@croft/access-token';
import type { AuthSettings } from '../settings.ts';

/**
 * The keys of access tokens, from the settings that speak of them.
 * @throws Error with a sentence when `JWT_KEYS` cannot be used
 */
export function tokenKeys(settings: AuthSettings): TokenKeys {
  const { JWT_SECRET, JWT_KEYS, JWT_KEY_ID, JWT_VALID_METHODS } = settings;
  return {
    secret: JWT_SECRET.reveal(),
    keys: JWT_KEYS === undefined ? undefined : readJwtKeys(JWT_KEYS.reveal()),
    keyId: JWT_KEY_ID,
    algorithms: JWT_VALID_METHODS,
  };
}
