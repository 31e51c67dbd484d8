import type { ExternalPerson } from '../outside/providers/provider.ts';
import type { IssuedSession } from '../sessions/issue-tokens.ts';

/** The session as the fragment of a redirect, with the provider's own tokens: keys in alphabetical order. */
export function externalSessionFragment(
  issued: IssuedSession,
  provider: string,
  tokens: ExternalPerson['tokens'],
): string {
  return new URLSearchParams({
    access_token: issued.accessToken,
    expires_at: String(issued.expiresAt),
    expires_in: String(issued.expiresInSeconds),
    provider,
    ...(tokens.refresh === undefined ? {} : { provider_refresh_token: tokens.refresh }),
    provider_token: tokens.access,
    refresh_token: issued.refreshToken,
    sb: '',
    token_type: 'bearer',
  }).toString();
}
