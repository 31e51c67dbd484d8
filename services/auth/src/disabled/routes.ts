import type { Failure } from '@croft/failure';
import type { App } from '@croft/http';
import { authenticateAdmin } from '../caller/authenticate-admin.ts';
import { authenticateCaller } from '../caller/authenticate-caller.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';

/** Who has to call before it is told that something is off. */
type Caller = 'anybody' | 'user' | 'administrator';

/**
 * What clients of GoTrue can ask for and this service does not have: each is answered as there where it is switched off, so that
 * a client fails with a word it knows (as in GoTrue).
 */
const OFF: readonly (readonly [request: string, caller: Caller, failure: () => Failure])[] = [
  ['POST /sso', 'anybody', failures.ssoOff],
  ['GET /sso/saml/metadata', 'anybody', failures.ssoOff],
  ['POST /sso/saml/acs', 'anybody', failures.ssoOff],
  ['GET /admin/sso/providers', 'administrator', failures.ssoOff],
  ['POST /admin/sso/providers', 'administrator', failures.ssoOff],
  ['GET /admin/sso/providers/:id', 'administrator', failures.ssoOff],
  ['PUT /admin/sso/providers/:id', 'administrator', failures.ssoOff],
  ['DELETE /admin/sso/providers/:id', 'administrator', failures.ssoOff],
  ['GET /oauth/authorize', 'anybody', failures.oauthServerOff],
  ['POST /oauth/token', 'anybody', failures.oauthServerOff],
  ['GET /oauth/userinfo', 'user', failures.oauthServerOff],
  ['POST /oauth/clients/register', 'anybody', failures.oauthServerOff],
  ['GET /oauth/authorizations/:id', 'user', failures.oauthServerOff],
  ['POST /oauth/authorizations/:id/consent', 'user', failures.oauthServerOff],
  ['GET /user/oauth/grants', 'user', failures.oauthServerOff],
  ['DELETE /user/oauth/grants', 'user', failures.oauthServerOff],
  ['GET /.well-known/oauth-authorization-server', 'anybody', failures.oauthServerOff],
  ['GET /admin/oauth/clients', 'administrator', failures.oauthServerOff],
  ['POST /admin/oauth/clients', 'administrator', failures.oauthServerOff],
  ['GET /admin/oauth/clients/:id', 'administrator', failures.oauthServerOff],
  ['PUT /admin/oauth/clients/:id', 'administrator', failures.oauthServerOff],
  ['DELETE /admin/oauth/clients/:id', 'administrator', failures.oauthServerOff],
  ['POST /admin/oauth/clients/:id/regenerate_secret', 'administrator', failures.oauthServerOff],
  ['GET /admin/custom-providers', 'administrator', failures.customProvidersOff],
  ['POST /admin/custom-providers', 'administrator', failures.customProvidersOff],
  ['GET /admin/custom-providers/:id', 'administrator', failures.customProvidersOff],
  ['PUT /admin/custom-providers/:id', 'administrator', failures.customProvidersOff],
  ['DELETE /admin/custom-providers/:id', 'administrator', failures.customProvidersOff],
  ['GET /scim/v2/ServiceProviderConfig', 'anybody', failures.scimOff],
  ['GET /scim/v2/ResourceTypes', 'anybody', failures.scimOff],
  ['GET /scim/v2/Schemas', 'anybody', failures.scimOff],
  ['POST /passkeys/authentication/options', 'anybody', failures.passkeysOff],
  ['POST /passkeys/authentication/verify', 'anybody', failures.passkeysOff],
  ['POST /passkeys/registration/options', 'user', failures.passkeysOff],
  ['POST /passkeys/registration/verify', 'user', failures.passkeysOff],
  ['GET /passkeys', 'user', failures.passkeysOff],
  ['PATCH /passkeys/:id', 'user', failures.passkeysOff],
  ['DELETE /passkeys/:id', 'user', failures.passkeysOff],
  ['GET /admin/users/:user_id/passkeys', 'administrator', failures.passkeysOff],
  ['DELETE /admin/users/:user_id/passkeys/:id', 'administrator', failures.passkeysOff],
];

/** Everything of `OFF`; it is in no document, for there is nothing to be used. */
export function disabledRoutes(app: App, context: AuthContext): void {
  const admit: Record<Caller, (authorization: string | undefined) => Promise<unknown>> = {
    anybody: async () => {},
    user: (authorization) => authenticateCaller(context, authorization),
    administrator: (authorization) => authenticateAdmin(context, authorization),
  };
  for (const [request, caller, failure] of OFF) {
    const [method = '', url = ''] = request.split(' ');
    app.route({
      method,
      url,
      schema: { hide: true },
      // Before a body is read: it would be for nothing.
      onRequest: async ({ headers }) => {
        await admit[caller](headers.authorization);
        throw failure();
      },
      handler: () => {
        throw failure();
      },
    });
  }
}
