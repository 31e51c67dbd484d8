import { type Answer, isTrue, objectOf, textOf } from '../answers.ts';
import { type IdTokens, verifyIdToken } from '../id-token.ts';
import type { OAuth2 } from '../oauth2.ts';
import { describe, onlyEmail } from '../profile.ts';
import type { Client } from '../provider.ts';
import { remoteKeys } from '../remote-keys.ts';
import { discover } from './discovery.ts';

const ISSUERS = ['https://accounts.google.com', 'accounts.google.com'];

/** Google's endpoints have not moved in years; those of a stand-in (`EXTERNAL_GOOGLE_URL`) are asked for. */
const endpointsOf = (client: Client) =>
  discover(client, client.url, {
    issuer: 'https://accounts.google.com',
    authorize: 'https://accounts.google.com/o/oauth2/v2/auth',
    token: 'https://oauth2.googleapis.com/token',
    keys: 'https://www.googleapis.com/oauth2/v3/certs',
  });

/** Google's id_tokens. */
export function googleIdTokens(client: Client, find = endpointsOf(client)): IdTokens {
  const keysAt = remoteKeys(client);
  return {
    async trusted(signal) {
      const { keys, issuer } = await find('profile', signal);
      return {
        isIssuer: (name: string) => name === issuer || ISSUERS.includes(name),
        keys: keysAt(keys),
      };
    },
    describe: describeClaims,
  };
}

/** Google: identified by its id_token, or by its profile when there is none. */
export function google(client: Client): OAuth2 {
  const find = endpointsOf(client);
  const idTokens = googleIdTokens(client, find);
  return {
    endpoints: (signal) => find('begin', signal),
    scopes: ['email', 'profile'],
    secretIn: 'body',
    pkce: true,
    async person({ tokens, get, signal }) {
      const { id_token: token } = tokens;
      if (token === undefined) {
        const profile = await get(`${client.url ?? 'https://www.googleapis.com'}/userinfo/v2/me`);
        return describeClaims(objectOf(profile));
      }
      const trusted = await idTokens.trusted(signal);
      return describeClaims(await verifyIdToken(token, client, trusted, undefined, signal));
    },
  };
}

/** The profile has the same members under two other names. */
function describeClaims(claims: Answer) {
  const hd = textOf(claims['hd']);
  return describe({
    issuer: 'https://accounts.google.com',
    subject: claims['sub'] ?? claims['id'],
    name: claims['name'],
    picture: claims['picture'],
    emails: onlyEmail(claims['email'], isTrue(claims['email_verified'] ?? claims['verified_email'])),
    more: {
      given_name: claims['given_name'],
      family_name: claims['family_name'],
      locale: claims['locale'],
      custom_claims: hd === '' ? undefined : { hd },
    },
  });
}
