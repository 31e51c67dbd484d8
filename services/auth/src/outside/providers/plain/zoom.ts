import { objectOf, textOf } from '../answers.ts';
import type { OAuth2 } from '../oauth2.ts';
import { describe, onlyEmail } from '../profile.ts';
import type { Client } from '../provider.ts';

const ZOOM = 'https://zoom.us';
const API = 'https://api.zoom.us';
/** `login_type` of those who have a password at Zoom instead of coming from elsewhere. */
const BY_EMAIL = '100';

/** Zoom. */
export function zoom(client: Client): OAuth2 {
  const base = client.url ?? ZOOM;
  const api = client.url ?? API;
  return {
    endpoints: () => ({ authorize: `${base}/oauth/authorize`, token: `${base}/oauth/token` }),
    scopes: [],
    secretIn: 'header',
    pkce: true,
    async person({ get }) {
      const user = objectOf(await get(`${api}/v2/users/me`));
      const isUnverified = String(user['login_type']) === BY_EMAIL && user['verified'] === 0;
      const name = [user['first_name'], user['last_name']].map(textOf).join(' ').trim();
      return describe({
        issuer: API,
        subject: user['id'],
        name: name === '' ? user['display_name'] : name,
        picture: user['pic_url'],
        emails: onlyEmail(user['email'], !isUnverified),
      });
    },
  };
}
