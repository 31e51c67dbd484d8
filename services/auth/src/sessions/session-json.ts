import type { z } from 'zod';
import { userJson } from '../account/user-json.ts';
import type { sessionBody } from '../responses.ts';
import type { IssuedSession } from './issue-tokens.ts';

/** The answer to every sign-in and refresh (as in GoTrue). */
export type SessionJson = z.infer<typeof sessionBody>;

/** Renders a session. */
export function sessionJson(
  issued: IssuedSession,
  extra: Pick<SessionJson, 'type' | 'weak_password' | 'provider_token' | 'provider_refresh_token'> = {},
): SessionJson {
  return {
    access_token: issued.accessToken,
    token_type: 'bearer',
    expires_in: issued.expiresInSeconds,
    expires_at: issued.expiresAt,
    refresh_token: issued.refreshToken,
    user: userJson(issued.person),
    ...extra,
  };
}

/** The session as the fragment of a redirect: keys in alphabetical order, appended to the letter. */
export function sessionFragment(issued: IssuedSession, type: string): string {
  return new URLSearchParams({
    access_token: issued.accessToken,
    expires_at: String(issued.expiresAt),
    expires_in: String(issued.expiresInSeconds),
    refresh_token: issued.refreshToken,
    sb: '',
    token_type: 'bearer',
    type,
  }).toString();
}
