import type { App } from '@croft/http';
import { z } from 'zod';
import type { AuthContext } from '../context.ts';

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

/** GET /.well-known/jwks.json */
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
      // As long as verifiers may take to notice a new key: list it this long before it signs.
      reply.header('cache-control', 'public, max-age=600');
      return { keys };
    },
  );
}
