import { isTrue, objectOf, textOf } from '../answers.ts';
import { verifyIdToken } from '../id-token.ts';
import type { OAuth2 } from '../oauth2.ts';
import { describe, onlyEmail } from '../profile.ts';
import type { Client } from '../provider.ts';
import { remoteKeys } from '../remote-keys.ts';

const LINKEDIN = 'https://www.linkedin.com';

/** LinkedIn by OpenID Connect. It repeats no nonce, so none is sent. */
export function linkedinOidc(client: Client): OAuth2 {
  const base = client.url ?? LINKEDIN;
  const keys = remoteKeys(client)(`${base}/oauth/openid/jwks`);
  const issuers = [`${base}/oauth`, base, `${LINKEDIN}/oauth`, LINKEDIN];
  return {
    endpoints: () => ({ authorize: `${base}/oauth/v2/authorization`, token: `${base}/oauth/v2/accessToken` }),
    scopes: ['openid', 'email', 'profile'],
    secretIn: 'body',
    async person({ tokens, signal }) {
      const trusted = { isIssuer: (name: string) => issuers.includes(name), keys };
      const claims = await verifyIdToken(tokens['id_token'], client, trusted, undefined, signal);
      return describe({
        issuer: textOf(claims['iss']),
        subject: claims['sub'],
        name: claims['name'],
        picture: claims['picture'],
        emails: onlyEmail(claims['email'], isTrue(claims['email_verified'])),
        more: {
          given_name: claims['given_name'],
          family_name: claims['family_name'],
          locale: localeIn(claims['locale']),
        },
      });
    },
  };
}

/** Either `en_US` or `{"country":"US","language":"en"}`. */
function localeIn(locale: unknown): string {
  const { language, country } = objectOf(locale);
  return (
    textOf(locale) ||
    [language, country]
      .map(textOf)
      .filter((part) => part !== '')
      .join('_')
  );
}
