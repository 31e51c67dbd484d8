import { objectOf, objectsOf, textOf } from '../answers.ts';
import type { OAuth2 } from '../oauth2.ts';
import { describe, onlyEmail } from '../profile.ts';
import type { Client } from '../provider.ts';

const GITLAB = 'https://gitlab.com';

/** GitLab, or a server of one's own at `EXTERNAL_GITLAB_URL`. Of further addresses it does not say that they are verified. */
export function gitlab(client: Client): OAuth2 {
  const base = client.url ?? GITLAB;
  return {
    endpoints: () => ({ authorize: `${base}/oauth/authorize`, token: `${base}/oauth/token` }),
    scopes: ['read_user'],
    secretIn: 'body',
    pkce: true,
    async person({ get }) {
      const user = objectOf(await get(`${base}/api/v4/user`));
      const further = objectsOf(await get(`${base}/api/v4/user/emails`))
        .filter((one) => one['email'] !== user['email'])
        .map((one) => ({ address: textOf(one['email']), verified: false, primary: false }));
      return describe({
        issuer: base,
        subject: user['id'],
        name: user['name'],
        picture: user['avatar_url'],
        emails: [...further, ...onlyEmail(user['email'], textOf(user['confirmed_at']) !== '')],
      });
    },
  };
}
