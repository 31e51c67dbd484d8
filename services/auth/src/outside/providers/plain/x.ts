import { objectOf, pathPart, textOf } from '../answers.ts';
import type { OAuth2 } from '../oauth2.ts';
import { describe, onlyEmail } from '../profile.ts';
import type { Client } from '../provider.ts';

const X = 'https://x.com';
const API = 'https://api.x.com';
const FIELDS = 'confirmed_email,created_at,name,profile_image_url,url,username';

/** X, the OAuth 2 of what `twitter` is with OAuth 1.0a. */
export function x(client: Client): OAuth2 {
  const api = client.url ?? API;
  return {
    endpoints: () => ({ authorize: `${client.url ?? X}/i/oauth2/authorize`, token: `${api}/2/oauth2/token` }),
    scopes: ['users.email', 'tweet.read', 'users.read', 'offline.access'],
    secretIn: 'header',
    pkce: true,
    async person({ get }) {
      const answer = objectOf(await get(`${api}/2/users/me?user.fields=${FIELDS}`));
      const user = objectOf(answer['data']);
      const username = textOf(user['username']);
      const { created_at } = user;
      return describe({
        issuer: API,
        subject: user['id'],
        name: user['name'],
        picture: user['profile_image_url'],
        emails: onlyEmail(user['confirmed_email'], true),
        more: {
          preferred_username: username,
          user_name: username,
          profile: username === '' ? undefined : `${X}/${pathPart(username)}`,
          website: user['url'],
          custom_claims: { created_at },
        },
      });
    },
  };
}
