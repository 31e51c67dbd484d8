import { objectOf } from '../answers.ts';
import type { OAuth2 } from '../oauth2.ts';
import { describe, onlyEmail } from '../profile.ts';
import type { Client } from '../provider.ts';

const FIGMA = 'https://www.figma.com';
const API = 'https://api.figma.com';

/** Figma. */
export function figma(client: Client): OAuth2 {
  const api = client.url ?? API;
  return {
    endpoints: () => ({ authorize: `${client.url ?? FIGMA}/oauth`, token: `${api}/v1/oauth/token` }),
    scopes: ['current_user:read'],
    secretIn: 'header',
    pkce: true,
    async person({ get }) {
      const user = objectOf(await get(`${api}/v1/me`));
      return describe({
        issuer: API,
        subject: user['id'],
        name: user['handle'],
        picture: undefined,
        emails: onlyEmail(user['email'], true),
        more: { avatar_url: user['img_url'] },
      });
    },
  };
}
