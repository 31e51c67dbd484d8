/**
 * External providers by the names clients know: the 17 of the contract, and those that came later.
 */
export const providerIds = [
  'apple',
  'azure',
  'bitbucket',
  'discord',
  'facebook',
  'figma',
  'github',
  'gitlab',
  'google',
  'keycloak',
  'linkedin',
  'notion',
  'slack',
  'spotify',
  'twitch',
  'twitter',
  'workos',
  'fly',
  'kakao',
  'linkedin_oidc',
  'slack_oidc',
  'snapchat',
  'x',
  'zoom',
] as const;

/** Name of an external provider. */
export type ProviderId = (typeof providerIds)[number];
