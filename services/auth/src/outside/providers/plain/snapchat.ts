import { objectOf } from '../answers.ts';
import type { OAuth2 } from '../oauth2.ts';
import { describe } from '../profile.ts';
import type { Client } from '../provider.ts';

const ACCOUNTS = 'https://accounts.snapchat.com';
const API = 'https://kit.snapchat.com';
const SCOPE = 'https://auth.snapchat.com/oauth2/api';
const QUERY = encodeURIComponent('{me{externalId displayName bitmoji{avatar}}}');

/** Snapchat: tells no address, so it needs `EXTERNAL_SNAPCHAT_EMAIL_OPTIONAL`. */
export function snapchat(client: Client): OAuth2 {
  const base = client.url ?? ACCOUNTS;
  const api = client.url ?? API;
  return {
    endpoints: () => ({
      authorize: `${base}/accounts/oauth2/auth`,
      token: `${base}/accounts/oauth2/token`,
    }),
    scopes: ['user.display_name', 'user.external_id', 'user.bitmoji.avatar'].map(
      (name) => `${SCOPE}/${name}`,
    ),
    secretIn: 'header',
    async person({ get }) {
      const answer = objectOf(await get(`${api}/v1/me?query=${QUERY}`));
      const me = objectOf(objectOf(answer['data'])['me']);
      return describe({
        issuer: ACCOUNTS,
        subject: me['externalId'],
        name: me['displayName'],
        picture: objectOf(me['bitmoji'])['avatar'],
        emails: [],
      });
    },
  };
}
