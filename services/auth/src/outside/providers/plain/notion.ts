import { objectOf } from '../answers.ts';
import type { OAuth2 } from '../oauth2.ts';
import { describe, onlyEmail } from '../profile.ts';
import type { Client } from '../provider.ts';

const NOTION = 'https://api.notion.com';
const VERSION = { 'notion-version': '2021-08-16' };

/** Notion: the token belongs to a bot, and the bot to the person. */
export function notion(client: Client): OAuth2 {
  const base = client.url ?? NOTION;
  return {
    endpoints: () => ({ authorize: `${base}/v1/oauth/authorize`, token: `${base}/v1/oauth/token` }),
    scopes: [],
    fixedScopes: true,
    secretIn: 'header',
    parameters: { owner: 'user' },
    async person({ get }) {
      const me = objectOf(await get(`${base}/v1/users/me`, VERSION));
      const user = objectOf(objectOf(objectOf(me['bot'])['owner'])['user']);
      return describe({
        issuer: NOTION,
        subject: user['id'],
        name: user['name'],
        picture: user['avatar_url'],
        emails: onlyEmail(objectOf(user['person'])['email'], true),
      });
    },
  };
}
