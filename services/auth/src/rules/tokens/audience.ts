/** The access token of a request, as far as this file looks at it. */
interface Presented {
  aud?: string | readonly string[] | undefined;
  role?: string | undefined;
}

/**
 * The audience that users are looked up in and new users get (as in GoTrue): what `X-JWT-AUD` asks
 * for, else the one of the presented token, else `JWT_AUD`. An administrator's own audience says nothing of the users
 * it works on.
 */
export function audienceOf(
  requested: string | undefined,
  presented: Presented | undefined,
  settings: { JWT_AUD: string; JWT_ADMIN_ROLES: readonly string[] },
): string {
  if (requested !== undefined && requested !== '') return requested;
  if (presented !== undefined && !settings.JWT_ADMIN_ROLES.includes(presented.role ?? '')) {
    // RFC 7519 §4.1.3 permits several; ours have one, and of others the first counts.
    const own = typeof presented.aud === 'string' ? presented.aud : presented.aud?.[0];
    if (own !== undefined && own !== '') return own;
  }
  return settings.JWT_AUD;
}
