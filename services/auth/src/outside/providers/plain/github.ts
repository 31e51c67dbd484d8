import { isTrue, objectOf, objectsOf, textOf } from '../answers.ts';
import type { OAuth2 } from '../oauth2.ts';
import { describe } from '../profile.ts';
import type { Client } from '../provider.ts';

const GITHUB = 'https://github.com';
const API = 'https://api.github.com';

/** GitHub, or an Enterprise server at `EXTERNAL_GITHUB_URL`. */
export function github(client: Client): OAuth2 {
  const base = client.url ?? GITHUB;
  const api = client.url === undefined ? API : `${client.url}/api/v3`;
  return {
    endpoints: () => ({
      authorize: `${base}/login/oauth/authorize`,
      token: `${base}/login/oauth/access_token`,
    }),
    scopes: ['user:email'],
    secretIn: 'body',
    pkce: true,
    async person({ get }) {
      const user = objectOf(await get(`${api}/user`));
      const emails = await get(`${api}/user/emails`);
      return describe({
        issuer: api,
        subject: user['id'],
        name: user['name'],
        picture: undefined,
        emails: objectsOf(emails).map((one) => ({
          address: textOf(one['email']),
          verified: isTrue(one['verified']),
          primary: isTrue(one['primary']),
        })),
        more: {
          avatar_url: user['avatar_url'],
          preferred_username: user['login'],
          user_name: user['login'],
        },
      });
    },
  };
}
