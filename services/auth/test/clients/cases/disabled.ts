import { expect } from 'vitest';
import type { Case, Cases, Here } from '../here.ts';

// What is off here: the library gets a word it knows, and not a page of somebody's proxy.

const ID = crypto.randomUUID();
const PASSKEYS = [404, 'passkey_disabled'] as const;
const OAUTH = [404, 'feature_disabled'] as const;
const CUSTOM = [404, 'feature_disabled'] as const;
const NO_SECURITY_KEYS = [422, 'mfa_webauthn_enroll_not_enabled'] as const;
const NO_FACTOR = [404, 'mfa_factor_not_found'] as const;

type Call = (here: Here) => Promise<{ error: unknown }>;

function refuses([status, code]: readonly [number, string], call: Call): Case {
  return async (here) => {
    await here.signedIn();
    expect((await call(here)).error).toMatchObject({ name: 'AuthApiError', status, code });
  };
}

/** Outside of browsers the library itself refuses. */
function needsBrowser(refusal: readonly [number, string], call: Call): Case {
  if ('document' in globalThis) return refuses(refusal, call);
  return async (here) => {
    await here.signedIn();
    expect((await call(here)).error).toMatchObject({ message: expect.stringMatching(/WebAuthn/) });
  };
}

const webauthn = { rpId: 'app.example', rpOrigins: ['https://app.example'] };
const client = { client_name: 'app', redirect_uris: ['https://app.example'] };
const provider = {
  provider_type: 'oidc',
  identifier: 'custom:mine',
  name: 'Mine',
  client_id: 'id',
  client_secret: 'secret',
  issuer: 'https://issuer.example',
} as const;

/** Each refused as where it is switched off. */
export const disabledCases: Cases = {
  signInWithSSO: refuses([404, 'saml_provider_disabled'], ({ auth }) =>
    auth.signInWithSSO({ domain: 'example.com' }),
  ),

  'oauth.getAuthorizationDetails': refuses(OAUTH, ({ auth }) => auth.oauth.getAuthorizationDetails(ID)),
  'oauth.approveAuthorization': refuses(OAUTH, ({ auth }) => auth.oauth.approveAuthorization(ID)),
  'oauth.denyAuthorization': refuses(OAUTH, ({ auth }) => auth.oauth.denyAuthorization(ID)),
  'oauth.listGrants': refuses(OAUTH, ({ auth }) => auth.oauth.listGrants()),
  'oauth.revokeGrant': refuses(OAUTH, ({ auth }) => auth.oauth.revokeGrant({ clientId: ID })),
  'admin.oauth.listClients': refuses(OAUTH, ({ admin }) => admin.admin.oauth.listClients()),
  'admin.oauth.createClient': refuses(OAUTH, ({ admin }) => admin.admin.oauth.createClient(client)),
  'admin.oauth.getClient': refuses(OAUTH, ({ admin }) => admin.admin.oauth.getClient(ID)),
  'admin.oauth.updateClient': refuses(OAUTH, ({ admin }) => admin.admin.oauth.updateClient(ID, client)),
  'admin.oauth.deleteClient': refuses(OAUTH, ({ admin }) => admin.admin.oauth.deleteClient(ID)),
  'admin.oauth.regenerateClientSecret': refuses(OAUTH, ({ admin }) =>
    admin.admin.oauth.regenerateClientSecret(ID),
  ),

  'admin.customProviders.listProviders': refuses(CUSTOM, ({ admin }) =>
    admin.admin.customProviders.listProviders(),
  ),
  'admin.customProviders.createProvider': refuses(CUSTOM, ({ admin }) =>
    admin.admin.customProviders.createProvider(provider),
  ),
  'admin.customProviders.getProvider': refuses(CUSTOM, ({ admin }) =>
    admin.admin.customProviders.getProvider(provider.identifier),
  ),
  'admin.customProviders.updateProvider': refuses(CUSTOM, ({ admin }) =>
    admin.admin.customProviders.updateProvider(provider.identifier, { name: 'Ours' }),
  ),
  'admin.customProviders.deleteProvider': refuses(CUSTOM, ({ admin }) =>
    admin.admin.customProviders.deleteProvider(provider.identifier),
  ),

  'passkey.startRegistration': refuses(PASSKEYS, ({ auth }) => auth.passkey.startRegistration()),
  'passkey.verifyRegistration': refuses(PASSKEYS, ({ auth }) =>
    auth.passkey.verifyRegistration({ challengeId: ID, credential: {} as never }),
  ),
  'passkey.startAuthentication': refuses(PASSKEYS, ({ auth }) => auth.passkey.startAuthentication()),
  'passkey.verifyAuthentication': refuses(PASSKEYS, ({ auth }) =>
    auth.passkey.verifyAuthentication({ challengeId: ID, credential: {} as never }),
  ),
  'passkey.list': refuses(PASSKEYS, ({ auth }) => auth.passkey.list()),
  'passkey.update': refuses(PASSKEYS, ({ auth }) =>
    auth.passkey.update({ passkeyId: ID, friendlyName: 'key' }),
  ),
  'passkey.delete': refuses(PASSKEYS, ({ auth }) => auth.passkey.delete({ passkeyId: ID })),
  'admin.passkey.listPasskeys': refuses(PASSKEYS, ({ admin }) =>
    admin.admin.passkey.listPasskeys({ userId: ID }),
  ),
  'admin.passkey.deletePasskey': refuses(PASSKEYS, ({ admin }) =>
    admin.admin.passkey.deletePasskey({ userId: ID, passkeyId: ID }),
  ),
  'mfa.webauthn.enroll': refuses(NO_SECURITY_KEYS, ({ auth }) =>
    auth.mfa.webauthn.enroll({ friendlyName: 'key' }),
  ),
  'mfa.webauthn.challenge': refuses(NO_FACTOR, ({ auth }) =>
    auth.mfa.webauthn.challenge({ factorId: ID, webauthn }),
  ),
  'mfa.webauthn.verify': refuses([400, 'validation_failed'], ({ auth }) =>
    auth.mfa.webauthn.verify({
      factorId: ID,
      challengeId: ID,
      webauthn: { ...webauthn, type: 'request', credential_response: { toJSON: () => ({}) } as never },
    }),
  ),
  signInWithPasskey: needsBrowser(PASSKEYS, ({ auth }) => auth.signInWithPasskey()),
  registerPasskey: needsBrowser(PASSKEYS, ({ auth }) => auth.registerPasskey()),
  'mfa.webauthn.register': needsBrowser(NO_SECURITY_KEYS, ({ auth }) =>
    auth.mfa.webauthn.register({ friendlyName: 'key', webauthn: { rpId: 'app.example' } }),
  ),
  'mfa.webauthn.authenticate': needsBrowser(NO_FACTOR, ({ auth }) =>
    auth.mfa.webauthn.authenticate({ factorId: ID, webauthn: { rpId: 'app.example' } }),
  ),
};
