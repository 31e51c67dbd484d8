import { type Answer, isTrue, objectOf } from '../answers.ts';
import type { IdTokens } from '../id-token.ts';
import type { OAuth2 } from '../oauth2.ts';
import { type Described, describe, onlyEmail } from '../profile.ts';
import type { Client } from '../provider.ts';
import { idTokensOf } from './issuer.ts';
import { otherClaims } from './standard-claims.ts';

/** The id_tokens of the realm. */
export function keycloakIdTokens(client: Client): IdTokens {
  return { ...idTokensOf(client, client.url ?? ''), describe: (claims) => describeUser(claims, client) };
}

/** Keycloak: `EXTERNAL_KEYCLOAK_URL` is the address of the realm. */
export function keycloak(client: Client): OAuth2 {
  const base = `${client.url ?? ''}/protocol/openid-connect`;
  return {
    endpoints: () => ({ authorize: `${base}/auth`, token: `${base}/token` }),
    // Without `openid` there is no userinfo since Keycloak 19.
    scopes: ['profile', 'email', 'openid'],
    secretIn: 'header',
    pkce: true,
    async person({ get }) {
      return describeUser(objectOf(await get(`${base}/userinfo`)), client);
    },
  };
}

function describeUser(user: Answer, client: Client): Described {
  return describe({
    issuer: client.url ?? '',
    subject: user['sub'],
    name: user['name'],
    picture: undefined,
    emails: onlyEmail(user['email'], isTrue(user['email_verified'])),
    more: {
      preferred_username: user['preferred_username'],
      given_name: user['given_name'],
      family_name: user['family_name'],
      custom_claims: otherClaims(user),
    },
  });
}
