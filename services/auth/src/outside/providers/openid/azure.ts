import { type Answer, isTrue, textOf } from '../answers.ts';
import { remoteKeys, verifyIdToken } from '../id-token.ts';
import type { OAuth2 } from '../oauth2.ts';
import { describe, onlyEmail } from '../profile.ts';
import type { Client } from '../provider.ts';
import { discover } from './discovery.ts';

const COMMON = 'https://login.microsoftonline.com/common';
const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Claims that have a place of their own, or say nothing of the person. */
const STANDARD = new Set(
  (
    'iss sub aud iat exp nbf nonce at_hash c_hash aio rh uti ver name family_name given_name middle_name nickname ' +
    'preferred_username profile picture website gender birthdate zoneinfo locale updated_at email email_verified ' +
    'phone_number phone_number_verified azp sid'
  ).split(' '),
);

/** Microsoft Entra: `EXTERNAL_AZURE_URL` chooses the tenant. Identified by the id_token, whose issuer names the tenant. */
export function azure(client: Client): OAuth2 {
  const base = client.url ?? COMMON;
  const keysAt = remoteKeys(client);
  // The paths are the same for every tenant; issuer and keys are not (a tenant may be named by its domain).
  const find = discover(client, `${base}/v2.0`, { issuer: '', authorize: '', token: '', keys: '' });
  return {
    endpoints: () => ({ authorize: `${base}/oauth2/v2.0/authorize`, token: `${base}/oauth2/v2.0/token` }),
    scopes: ['openid', 'email', 'profile'],
    secretIn: 'body',
    pkce: true,
    nonce: true,
    async person({ tokens, kept, signal }) {
      const { issuer, keys } = await find('profile', signal);
      const isIssuer = (name: string, said: Answer): boolean => name === issuerOfTenant(issuer, said);
      const expected = { isIssuer, nonce: kept['nonce'] };
      const claims = await verifyIdToken(tokens['id_token'], client, keysAt(keys), expected, signal);
      return describe({
        issuer: textOf(claims['iss']),
        subject: claims['sub'],
        name: claims['name'],
        picture: claims['picture'],
        emails: onlyEmail(claims['email'], ownsDomain(claims)),
        more: {
          preferred_username: claims['preferred_username'],
          custom_claims: Object.fromEntries(Object.entries(claims).filter(([name]) => !STANDARD.has(name))),
        },
      });
    },
  };
}

/** Endpoints for several tenants tell their issuer with a gap for the tenant. */
function issuerOfTenant(issuer: string, claims: Answer): string | undefined {
  if (!issuer.includes('{tenantid}')) return issuer;
  const tenant = textOf(claims['tid']);
  return GUID.test(tenant) ? issuer.replaceAll('{tenantid}', tenant) : undefined;
}

/**
 * Whether the tenant has shown that the domain of the address is its own. Directories let their administrators write
 * any address; Microsoft leaves out what is not verified, unless the application asks for `xms_edov` and decides itself.
 */
function ownsDomain(claims: Answer): boolean {
  return claims['xms_edov'] === undefined || isTrue(claims['xms_edov']);
}
