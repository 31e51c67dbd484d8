import type { UserRow } from '../../rows.ts';

/** The session an access token belongs to. */
export interface ClaimedSession {
  id: string;
  aal: string;
  /** Most recent first. */
  amr: readonly { method: string; timestamp: number }[];
  /** Of one that was not opened just now. */
  begunAt?: Date;
}

/** The claims of an access token. */
export interface IssuedClaims extends Record<string, unknown> {
  iat: number;
  exp: number;
}

/** What the access token says (as in GoTrue); row-level security policies read it. */
export function accessTokenClaims(
  user: UserRow,
  session: ClaimedSession,
  now: Date,
  lifetimeSeconds: number,
  issuer: string | undefined,
): IssuedClaims {
  const iat = Math.floor(now.getTime() / 1000);
  return {
    ...(issuer === undefined ? {} : { iss: issuer }),
    sub: user.id,
    aud: user.aud,
    exp: iat + lifetimeSeconds,
    iat,
    email: user.email ?? '',
    phone: user.phone ?? '',
    app_metadata: user.raw_app_meta_data,
    user_metadata: user.raw_user_meta_data,
    role: user.role,
    aal: session.aal,
    amr: session.amr,
    session_id: session.id,
    is_anonymous: user.is_anonymous,
  };
}
