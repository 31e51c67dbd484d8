import type { AuthSettings } from '../settings.ts';

/** What every access token says (as in GoTrue). */
const CLAIMS =
  'iss sub aud exp iat email phone role aal amr session_id is_anonymous app_metadata user_metadata';

/**
 * The document that verifiers find the keys by (OpenID Connect Discovery §3), with the members it must have.
 * @param algs of the published keys; without one a shared secret signs, which nobody else can verify
 */
export function openidConfiguration(
  { API_EXTERNAL_URL, JWT_ISSUER }: Pick<AuthSettings, 'API_EXTERNAL_URL' | 'JWT_ISSUER'>,
  algs: readonly string[],
) {
  // Below a path, if the proxy in front has one for us.
  const at = (path: string): string => `${API_EXTERNAL_URL.replace(/\/+$/, '')}${path}`;
  return {
    issuer: JWT_ISSUER ?? API_EXTERNAL_URL,
    authorization_endpoint: at('/oauth/authorize'),
    token_endpoint: at('/oauth/token'),
    userinfo_endpoint: at('/oauth/userinfo'),
    jwks_uri: at('/.well-known/jwks.json'),
    scopes_supported: ['openid', 'email', 'profile', 'phone'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: algs.length === 0 ? ['HS256'] : [...new Set(algs)],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    claims_supported: CLAIMS.split(' '),
    code_challenge_methods_supported: ['S256'],
  };
}
