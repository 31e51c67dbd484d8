import { createHmac } from 'node:crypto';
import { objectOf, textOf } from '../answers.ts';
import type { IdTokens } from '../id-token.ts';
import type { OAuth2 } from '../oauth2.ts';
import { describe, onlyEmail } from '../profile.ts';
import type { Client } from '../provider.ts';
import { remoteKeys } from '../remote-keys.ts';

const DIALOG = 'https://www.facebook.com';
const GRAPH = 'https://graph.facebook.com';
const FIELDS = 'email,first_name,last_name,name,picture';

/** The id_tokens of Facebook's limited login, which is all there is of OpenID Connect. */
export function facebookIdTokens(client: Client): IdTokens {
  const issuer = client.url ?? DIALOG;
  const keys = remoteKeys(client)(`${issuer}/.well-known/oauth/openid/jwks/`);
  return {
    trusted: () => ({ isIssuer: (name: string) => name === issuer, keys }),
    describe: (claims) =>
      describe({
        issuer: textOf(claims['iss']),
        subject: claims['sub'],
        name: claims['name'],
        picture: claims['picture'],
        emails: onlyEmail(claims['email'], true),
        more: {
          given_name: claims['given_name'],
          family_name: claims['family_name'],
          nickname: claims['name'],
          slug: claims['name'],
        },
      }),
  };
}

/** Facebook: requests prove with the secret that they come from the application. */
export function facebook(client: Client): OAuth2 {
  const dialog = client.url ?? DIALOG;
  const graph = client.url ?? GRAPH;
  return {
    endpoints: () => ({ authorize: `${dialog}/dialog/oauth`, token: `${graph}/oauth/access_token` }),
    scopes: ['email'],
    secretIn: 'body',
    async person({ accessToken, get }) {
      const proof = createHmac('sha256', client.secret).update(accessToken).digest('hex');
      const user = objectOf(await get(`${graph}/me?fields=${FIELDS}&appsecret_proof=${proof}`));
      return describe({
        issuer: GRAPH,
        subject: user['id'],
        name: user['name'],
        picture: objectOf(objectOf(user['picture'])['data'])['url'],
        // Only confirmed addresses are shown to applications.
        emails: onlyEmail(user['email'], true),
        more: {
          given_name: user['first_name'],
          family_name: user['last_name'],
          nickname: user['name'],
          slug: user['name'],
        },
      });
    },
  };
}
