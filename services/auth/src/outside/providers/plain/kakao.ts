import { isTrue, objectOf } from '../answers.ts';
import type { IdTokens } from '../id-token.ts';
import type { OAuth2 } from '../oauth2.ts';
import { describe, onlyEmail } from '../profile.ts';
import type { Client } from '../provider.ts';
import { remoteKeys } from '../remote-keys.ts';

const KAUTH = 'https://kauth.kakao.com';
const KAPI = 'https://kapi.kakao.com';

/** Kakao's id_tokens. They do not say whether the address is verified, so nobody is found by it. */
export function kakaoIdTokens(client: Client): IdTokens {
  const issuer = client.url ?? KAUTH;
  const keys = remoteKeys(client)(`${issuer}/.well-known/jwks.json`);
  return {
    trusted: () => ({ isIssuer: (name: string) => name === issuer, keys }),
    describe: (claims) =>
      describe({
        issuer: KAPI,
        subject: claims['sub'],
        name: claims['nickname'],
        picture: claims['picture'],
        emails: onlyEmail(claims['email'], isTrue(claims['email_verified'])),
        more: { preferred_username: claims['nickname'], user_name: claims['nickname'] },
      }),
  };
}

/** Kakao. */
export function kakao(client: Client): OAuth2 {
  const base = client.url ?? KAUTH;
  const api = client.url ?? KAPI;
  return {
    endpoints: () => ({ authorize: `${base}/oauth/authorize`, token: `${base}/oauth/token` }),
    scopes: ['account_email', 'profile_image', 'profile_nickname'],
    secretIn: 'body',
    async person({ get }) {
      const user = objectOf(await get(`${api}/v2/user/me`));
      const account = objectOf(user['kakao_account']);
      const profile = objectOf(account['profile']);
      const isVerified = isTrue(account['is_email_verified']) && isTrue(account['is_email_valid']);
      return describe({
        issuer: KAPI,
        subject: user['id'],
        name: profile['nickname'],
        picture: profile['profile_image_url'],
        emails: onlyEmail(account['email'], isVerified),
        more: { preferred_username: profile['nickname'], user_name: profile['nickname'] },
      });
    },
  };
}
