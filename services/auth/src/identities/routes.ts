import type { App } from '@croft/http';
import { z } from 'zod';
import { originOf, redirectWishOf } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { beginSignIn } from '../external/begin-sign-in.ts';
import { queryText } from '../requests.ts';
import { errorBody } from '../responses.ts';
import { readChallenge } from '../rules/codes/code-challenge.ts';
import { authenticateLinker } from './authenticate-linker.ts';
import { unlinkIdentity } from './unlink-identity.ts';

const refusals = { 400: errorBody, 401: errorBody, 403: errorBody, 404: errorBody };
const security = [{ bearer: [] }];

/** GET /user/identities/authorize and DELETE /user/identities/:identity_id */
export function identityRoutes(app: App, context: AuthContext): void {
  app.get(
    '/user/identities/authorize',
    {
      config: { limit: 'authorize' },
      schema: {
        summary: 'Link an account of an external provider to the user of the access token',
        description:
          'Like GET /authorize; with `skip_http_redirect=true` the address is in the answer, for scripts that open it themselves. With a code challenge the identity is linked when its verifier comes; without one, a browser that did not keep the cookie of this answer is asked before.',
        tags: ['identities'],
        security,
        querystring: z.looseObject({
          provider: queryText,
          scopes: queryText,
          redirect_to: queryText,
          skip_http_redirect: queryText,
          code_challenge: queryText,
          code_challenge_method: queryText,
        }),
        response: {
          200: z.object({ url: z.string() }),
          302: z.null().meta({ description: 'See Location' }),
          ...refusals,
          429: errorBody,
          503: errorBody,
        },
      },
    },
    async (request, reply) => {
      const { query, headers } = request;
      const { person, sessionId } = await authenticateLinker(context, headers.authorization);
      const { url, cookie } = await beginSignIn(context, {
        provider: query.provider ?? '',
        scopes: query.scopes ?? '',
        inviteToken: '',
        challenge: readChallenge(query),
        linking: { userId: person.user.id, sessionId: sessionId ?? null },
        query,
        redirect: redirectWishOf(request, query.redirect_to),
      });
      reply.headers({ 'cache-control': 'no-store', 'set-cookie': cookie });
      return query.skip_http_redirect === 'true' ? reply.send({ url }) : reply.redirect(url, 302);
    },
  );

  app.delete(
    '/user/identities/:identity_id',
    {
      schema: {
        summary: 'Unlink an identity of the user of the access token',
        description:
          'The last one stays. An account that loses its address with it gets the one that another identity proved, or none; without an identity of address or number it has no password.',
        tags: ['identities'],
        security,
        params: z.object({ identity_id: z.string() }),
        response: { 200: z.object({}), ...refusals, 409: errorBody, 422: errorBody },
      },
    },
    async (request) => {
      const { authorization } = request.headers;
      await unlinkIdentity(context, authorization, request.params.identity_id, originOf(request));
      return {};
    },
  );
}
