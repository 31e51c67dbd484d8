import type { App } from '@croft/http';
import { z } from 'zod';
import { originOf, redirectWishOf } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { lenientBody, queryText, textField } from '../requests.ts';
import { errorBody, sessionBody } from '../responses.ts';
import { sessionJson } from '../sessions/session-json.ts';
import { checkVerification } from './check-verification.ts';
import { followLink } from './follow-link.ts';
import { verifyCode } from './verify-code.ts';

/** GET and POST /verify */
export function verificationRoutes(app: App, context: AuthContext): void {
  app.get(
    '/verify',
    {
      schema: {
        summary: 'Open a link from a mail',
        description: 'Signs in and redirects, with the session or the refusal in the fragment.',
        tags: ['verification'],
        querystring: z.object({ type: queryText, token: queryText, redirect_to: queryText }),
        response: { 303: z.null().meta({ description: 'See Location' }), 400: errorBody },
      },
    },
    async (request, reply) => {
      const { type = '', token = '', redirect_to: parameter } = request.query;
      const redirect = redirectWishOf(request, parameter);
      const target = await followLink(context, { type, token, redirect, origin: originOf(request) });
      return reply.header('cache-control', 'no-store').redirect(target, 303);
    },
  );

  app.post(
    '/verify',
    {
      schema: {
        summary: 'Verify a code or the token of a link',
        tags: ['verification'],
        body: lenientBody({
          type: textField,
          token: textField,
          token_hash: textField,
          email: textField,
          phone: textField,
          redirect_to: textField,
          password: textField,
        }),
        response: { 200: sessionBody, 400: errorBody, 403: errorBody, 422: errorBody },
      },
    },
    async (request, reply) => {
      const { token_hash: tokenHash, redirect_to: redirectTo, password, ...fields } = request.body;
      const proof = checkVerification({ ...fields, tokenHash, redirectTo });
      const verification = { type: fields.type, proof, password, origin: originOf(request) };
      const { issued, type } = await verifyCode(context, verification);
      reply.header('cache-control', 'no-store');
      return sessionJson(issued, { type });
    },
  );
}
