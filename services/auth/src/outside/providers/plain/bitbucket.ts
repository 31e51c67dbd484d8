import { isTrue, objectOf, objectsOf, textOf } from '../answers.ts';
import type { OAuth2 } from '../oauth2.ts';
import { describe } from '../profile.ts';
import type { Client } from '../provider.ts';

const BITBUCKET = 'https://bitbucket.org';
const API = 'https://api.bitbucket.org';

/** Bitbucket: its addresses come apart from the profile, each with a flag. */
export function bitbucket(client: Client): OAuth2 {
  const base = client.url ?? BITBUCKET;
  const api = client.url ?? API;
  return {
    endpoints: () => ({
      authorize: `${base}/site/oauth2/authorize`,
      token: `${base}/site/oauth2/access_token`,
    }),
    scopes: ['account', 'email'],
    fixedScopes: true,
    secretIn: 'header',
    async person({ get }) {
      const user = objectOf(await get(`${api}/2.0/user`));
      const emails = objectOf(await get(`${api}/2.0/user/emails`));
      return describe({
        issuer: API,
        subject: user['uuid'],
        name: user['display_name'],
        picture: objectOf(objectOf(user['links'])['avatar'])['href'],
        emails: objectsOf(emails['values']).map((one) => ({
          address: textOf(one['email']),
          verified: isTrue(one['is_confirmed']),
          primary: isTrue(one['is_primary']),
        })),
      });
    },
  };
}
