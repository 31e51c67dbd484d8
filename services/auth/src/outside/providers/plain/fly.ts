import { objectOf } from '../answers.ts';
import type { OAuth2 } from '../oauth2.ts';
import { describe, onlyEmail } from '../profile.ts';
import type { Client } from '../provider.ts';

const FLY = 'https://api.fly.io';

/** Fly.io: what a token is good for tells whose it is. */
export function fly(client: Client): OAuth2 {
  const base = client.url ?? FLY;
  return {
    endpoints: () => ({ authorize: `${base}/oauth/authorize`, token: `${base}/oauth/token` }),
    scopes: ['read'],
    secretIn: 'body',
    async person({ get }) {
      const told = objectOf(await get(`${base}/oauth/token/info`));
      const { resource_owner_id, organizations, application, scope, created_at } = told;
      return describe({
        issuer: FLY,
        subject: told['user_id'],
        name: told['user_name'],
        picture: undefined,
        emails: onlyEmail(told['email'], true),
        more: { custom_claims: { resource_owner_id, organizations, application, scope, created_at } },
      });
    },
  };
}
