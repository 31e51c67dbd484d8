import { objectOf, objectsOf, textOf } from '../answers.ts';
import type { OAuth2 } from '../oauth2.ts';
import { describe, onlyEmail } from '../profile.ts';
import type { Client } from '../provider.ts';

const ACCOUNTS = 'https://accounts.spotify.com';
const API = 'https://api.spotify.com';

/** Spotify: lets people write any address into their profile and does not verify it. */
export function spotify(client: Client): OAuth2 {
  const base = client.url ?? ACCOUNTS;
  const api = client.url ?? API;
  return {
    endpoints: () => ({ authorize: `${base}/authorize`, token: `${base}/api/token` }),
    scopes: ['user-read-email'],
    secretIn: 'header',
    pkce: true,
    async person({ get }) {
      const user = objectOf(await get(`${api}/v1/me`));
      return describe({
        issuer: ACCOUNTS,
        subject: user['id'],
        name: user['display_name'],
        picture: largest(user['images']),
        emails: onlyEmail(user['email'], false),
      });
    },
  };
}

function largest(images: unknown): string {
  const sized = objectsOf(images).map(({ url, width }) => ({
    url: textOf(url),
    width: typeof width === 'number' ? width : 0,
  }));
  return sized.toSorted((a, b) => b.width - a.width)[0]?.url ?? '';
}
