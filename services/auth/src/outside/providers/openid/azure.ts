import { type Answer, isTrue, textOf } from '../answers.ts';
import { type IdTokens, verifyIdToken } from '../id-token.ts';
import type { OAuth2 } from '../oauth2.ts';
import { describe, onlyEmail } from '../profile.ts';
import type { Client } from '../provider.ts';
import { remoteKeys } from '../remote-keys.ts';
import { discover } from './discovery.ts';
import { otherClaims } from './standard-claims.ts';

const COMMON = 'https://login.microsoftonline.com/common';
const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Of Microsoft's own claims. */
const SAY_NOTHING = ['aio', 'rh', 'uti', 'ver'];

/** Microsoft's id_tokens: the tenant is in the issuer. */
export function azureIdTokens(client: Client): IdTokens {
  const base = client.url ?? COMMON;
  const keysAt = remoteKeys(client);
  // The paths are the same for every tenant; issuer and keys are not (a tenant may be named by its domain).
  const find = discover(client, `${base}/v2.0`, { issuer: '', authorize: '', token: '', keys: '' });
  return {
    async trusted(signal) {
      const { issuer, keys } = await find('profile', signal);
      const isIssuer = (name: string, said: Answer): boolean => name === issuerOfTenant(issuer, said);
      return { isIssuer, keys: keysAt(keys) };
    },
    describe: (claims) =>
      describe({
        issuer: textOf(claims['iss']),
        subject: claims['sub'],
        name: claims['name'],
        picture: claims['picture'],
        emails: onlyEmail(claims['email'], ownsDomain(claims)),
        more: {
          preferred_username: claims['preferred_username'],
          custom_claims: otherClaims(claims, SAY_NOTHING),
        },
      }),
  };
}

/** Microsoft Entra: `EXTERNAL_AZURE_URL` chooses the tenant. Identified by the id_token. */
export function azure(client: Client): OAuth2 {
  const base = client.url ?? COMMON;
  const idTokens = azureIdTokens(client);
  return {
    endpoints: () => ({ authorize: `${base}/oauth2/v2.0/authorize`, token: `${base}/oauth2/v2.0/token` }),
    scopes: ['openid', 'email', 'profile'],
    secretIn: 'body',
    pkce: true,
    nonce: true,
    async person({ tokens, kept, signal }) {
      const trusted = await idTokens.trusted(signal);
      const { nonce } = kept;
      return idTokens.describe(await verifyIdToken(tokens['id_token'], client, trusted, nonce, signal));
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
