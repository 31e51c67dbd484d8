import { type Answer, isTrue, textOf } from '../answers.ts';
import { type IdTokens, verifyIdToken } from '../id-token.ts';
import type { OAuth2 } from '../oauth2.ts';
import { describe, onlyEmail } from '../profile.ts';
import type { Client } from '../provider.ts';
import { remoteKeys } from '../remote-keys.ts';
import { discover } from './discovery.ts';
import { otherClaims } from './standard-claims.ts';

const COMMON = 'https://login.microsoftonline.com/common';
/** The tenant of personal accounts, whose addresses Microsoft has proven itself. */
const PERSONAL = '9188040d-6c67-4c5b-b112-36a304b66dad';
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
        emails: onlyEmail(claims['email'], ownsDomain(claims, isOneTenant(base))),
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

/** Whether people of one tenant alone can come: it is named by its id or a domain, and not `common` or the like. */
function isOneTenant(base: string): boolean {
  const name = new URL(base).pathname.split('/').at(-1) ?? '';
  return GUID.test(name) || name.includes('.');
}

/**
 * Whether the tenant has shown that the domain of the address is its own. Directories let their administrators write
 * any address, and anybody can have a directory: where every tenant is let in, only Microsoft's word (`xms_edov`, for
 * which the application has to ask) or its own accounts count. A single tenant is the operator's choice.
 */
function ownsDomain(claims: Answer, isOnlyTenant: boolean): boolean {
  const said = claims['xms_edov'];
  if (said !== undefined) return isTrue(said);
  return isOnlyTenant || claims['tid'] === PERSONAL;
}
