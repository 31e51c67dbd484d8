import { isTrue, textOf } from '../answers.ts';
import type { IdTokens } from '../id-token.ts';
import { describe, onlyEmail } from '../profile.ts';
import type { Client } from '../provider.ts';
import { remoteKeys } from '../remote-keys.ts';
import { discoverKeys } from './discovery.ts';
import { otherClaims } from './standard-claims.ts';

/** The id_tokens of any issuer that the operator trusts; what it says of addresses is believed. */
export function idTokensOf(client: Client, issuer: string): IdTokens {
  const find = discoverKeys(client, issuer);
  const keysAt = remoteKeys(client);
  return {
    async trusted(signal) {
      return { isIssuer: (name: string) => name === issuer, keys: keysAt(await find(signal)) };
    },
    describe: (claims) =>
      describe({
        issuer: textOf(claims['iss']),
        subject: claims['sub'],
        name: claims['name'],
        picture: claims['picture'],
        emails: onlyEmail(claims['email'], isTrue(claims['email_verified'])),
        more: {
          preferred_username: claims['preferred_username'],
          given_name: claims['given_name'],
          family_name: claims['family_name'],
          locale: claims['locale'],
          custom_claims: otherClaims(claims),
        },
      }),
  };
}
