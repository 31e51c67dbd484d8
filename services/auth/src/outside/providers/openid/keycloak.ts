import { isTrue, objectOf } from '../answers.ts';
import type { OAuth2 } from '../oauth2.ts';
import { describe, onlyEmail } from '../profile.ts';
import type { Client } from '../provider.ts';

const STANDARD = new Set(
  (
    'iss sub aud iat exp name family_name given_name middle_name nickname preferred_username profile picture website ' +
    'gender birthdate zoneinfo locale updated_at email email_verified phone_number phone_number_verified'
  ).split(' '),
);

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
      const user = objectOf(await get(`${base}/userinfo`));
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
          custom_claims: Object.fromEntries(Object.entries(user).filter(([name]) => !STANDARD.has(name))),
        },
      });
    },
  };
}
