import type { App } from '@croft/http';
import { z } from 'zod';
import type { AuthContext } from '../context.ts';
import { openidConfiguration } from './openid-configuration.ts';

/** A public key (RFC 7517); which of the numbers it has depends on `kty`. */
const publicKeyBody = z
  .object({
    kty: z.string(),
    kid: z.string(),
    alg: z.string(),
    use: z.string(),
    key_ops: z.array(z.string()),
    crv: z.string().optional(),
    n: z.string().optional(),
    e: z.string().optional(),
    x: z.string().optional(),
    y: z.string().optional(),
  })
  .meta({ title: 'PublicKey' });

const configurationBody = z
  .object({
    issuer: z.string(),
    authorization_endpoint: z.string(),
    token_endpoint: z.string(),
    userinfo_endpoint: z.string(),
    jwks_uri: z.string(),
    scopes_supported: z.array(z.string()),
    response_types_supported: z.array(z.string()),
    response_modes_supported: z.array(z.string()),
    grant_types_supported: z.array(z.string()),
    subject_types_supported: z.array(z.string()),
    id_token_signing_alg_values_supported: z.array(z.string()),
    token_endpoint_auth_methods_supported: z.array(z.string()),
    claims_supported: z.array(z.string()),
    code_challenge_methods_supported: z.array(z.string()),
  })
  .meta({ title: 'OpenIdConfiguration' });

/** As long as verifiers may take to notice a new key: list it this long before it signs. */
const CACHED = 'public, max-age=600';

/** GET /.well-known/jwks.json and GET /.well-known/openid-configuration */
export function keyRoutes(app: App, context: AuthContext): void {
  const keys = z.array(publicKeyBody).parse(context.accessTokens.publicKeys);
  app.get(
    '/.well-known/jwks.json',
    {
      schema: {
        summary: 'Public keys of access tokens',
        description:
          'A JSON Web Key Set (RFC 7517) of the asymmetric keys in `JWT_KEYS`; shared secrets are not listed.',
        tags: ['keys'],
        response: { 200: z.object({ keys: z.array(publicKeyBody) }) },
      },
    },
    async (_request, reply) => {
      reply.header('cache-control', CACHED);
      return { keys };
    },
  );

  const configuration = openidConfiguration(
    context.settings,
    keys.map(({ alg }) => alg),
  );
  app.get(
    '/.well-known/openid-configuration',
    {
      schema: {
        summary: 'What verifiers of access tokens need to know',
        description:
          'OpenID Connect Discovery: `issuer` is the `iss` of access tokens where `JWT_ISSUER` is set, `jwks_uri` has the keys. The endpoints of the OAuth server are named because the document must have them; there is none, and they answer `feature_disabled`.',
        tags: ['keys'],
        response: { 200: configurationBody },
      },
    },
    async (_request, reply) => {
      reply.header('cache-control', CACHED);
      return configuration;
    },
  );
}
