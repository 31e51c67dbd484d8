/** Where OAuth 2.0 is spoken, as at the reference. */
export const OAUTH_PATHS = {
  authorize: '/login/oauth/authorize',
  grant: '/login/oauth/grant',
  token: '/login/oauth/access_token',
  userinfo: '/login/oauth/userinfo',
} as const;
