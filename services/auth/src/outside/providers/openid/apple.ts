import { type Answer, isTrue, objectOf, textOf } from '../answers.ts';
import { type IdTokens, verifyIdToken } from '../id-token.ts';
import type { OAuth2 } from '../oauth2.ts';
import { type Described, describe, onlyEmail } from '../profile.ts';
import { type Client, ProviderRefused } from '../provider.ts';
import { remoteKeys } from '../remote-keys.ts';
import { type AppleKey, appleSecret } from './apple-secret.ts';

const APPLE = 'https://appleid.apple.com';
const ISSUERS = [APPLE, 'https://account.apple.com'];

/** Apple's id_tokens, which hold no name. */
export function appleIdTokens(client: Client): IdTokens {
  const base = client.url ?? APPLE;
  const keys = remoteKeys(client)(`${base}/auth/keys`);
  const isIssuer = (name: string): boolean => name === base || ISSUERS.includes(name);
  return { trusted: () => ({ isIssuer, keys }), describe: (claims) => describeClaims(claims, '') };
}

/**
 * Apple: makes the browser post the answer, tells the name with the first sign-in only, and beside the signed token:
 * of that form nothing else is believed.
 */
export function apple(client: Client, key: AppleKey): OAuth2 {
  const base = client.url ?? APPLE;
  const idTokens = appleIdTokens(client);
  return {
    endpoints: () => ({ authorize: `${base}/auth/authorize`, token: `${base}/auth/token` }),
    scopes: ['email', 'name'],
    secretIn: 'body',
    secret: () => appleSecret(client, key),
    nonce: true,
    answersBy: 'form',
    parameters: { response_mode: 'form_post' },
    passOn: () => new Map(),
    async person({ tokens, form, kept, signal }) {
      const trusted = await idTokens.trusted(signal);
      const claims = await verifyIdToken(tokens['id_token'], client, trusted, kept['nonce'], signal);
      return describeClaims(claims, nameIn(form['user']));
    },
  };
}

function describeClaims(claims: Answer, name: string): Described {
  const { is_private_email, auth_time, transfer_sub } = claims;
  return describe({
    issuer: textOf(claims['iss']),
    subject: claims['sub'],
    name,
    picture: undefined,
    // Apple verifies all addresses but those schools and companies manage, of which it says so.
    emails: onlyEmail(claims['email'], isTrue(claims['email_verified'] ?? true)),
    more: { custom_claims: { is_private_email, auth_time, transfer_sub } },
  });
}

/** The name in the field `user`: `{"name":{"firstName","lastName"},"email"}`. */
function nameIn(field: string | undefined): string {
  if (field === undefined || field === '') return '';
  let user: unknown;
  try {
    user = JSON.parse(field);
  } catch {
    throw new ProviderRefused('profile', 'the field user is no JSON');
  }
  const name = objectOf(objectOf(user)['name']);
  return `${textOf(name['firstName'])} ${textOf(name['lastName'])}`.trim();
}
