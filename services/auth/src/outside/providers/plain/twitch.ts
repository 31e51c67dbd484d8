import { objectOf, objectsOf } from '../answers.ts';
import type { OAuth2 } from '../oauth2.ts';
import { describe, onlyEmail } from '../profile.ts';
import type { Client } from '../provider.ts';

const IDS = 'https://id.twitch.tv';
const API = 'https://api.twitch.tv';

/** Twitch: its interface wants the client id besides the token. */
export function twitch(client: Client): OAuth2 {
  const base = client.url ?? IDS;
  const api = client.url ?? API;
  return {
    endpoints: () => ({ authorize: `${base}/oauth2/authorize`, token: `${base}/oauth2/token` }),
    scopes: ['user:read:email'],
    secretIn: 'body',
    async person({ get }) {
      const answer = objectOf(await get(`${api}/helix/users`, { 'client-id': client.id }));
      const [user = {}] = objectsOf(answer['data']);
      const { broadcaster_type, description, type, offline_image_url, view_count } = user;
      return describe({
        issuer: API,
        subject: user['id'],
        name: user['login'],
        picture: user['profile_image_url'],
        emails: onlyEmail(user['email'], true),
        more: {
          nickname: user['display_name'],
          slug: user['display_name'],
          custom_claims: { broadcaster_type, description, type, offline_image_url, view_count },
        },
      });
    },
  };
}
