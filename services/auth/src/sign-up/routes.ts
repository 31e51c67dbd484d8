import type { App } from '@croft/http';
import { z } from 'zod';
import { userJson } from '../account/user-json.ts';
import { signUpBucket } from '../caller/limit-clients.ts';
import { originOf, redirectWishOf } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { lenientBody, objectField, queryText, textField } from '../requests.ts';
import { errorBody, sessionBody, userBody } from '../responses.ts';
import { sessionJson } from '../sessions/session-json.ts';
import { signUp } from './sign-up.ts';

/** POST /signup */
export function signUpRoutes(app: App, context: AuthContext): void {
  app.post(
    '/signup',
    {
      config: { limit: signUpBucket, captcha: true },
      schema: {
        summary: 'Sign up',
        description:
          'Makes an account: with `email` or `phone`, or an anonymous one without either. Answers a session when nothing needs to be confirmed, else the user.',
        tags: ['sign-up'],
        querystring: z.object({ redirect_to: queryText }),
        body: lenientBody({
          email: textField,
          phone: textField,
          channel: textField,
          password: textField,
          data: objectField,
          code_challenge: textField,
          code_challenge_method: textField,
        }),
        response: {
          200: z.union([userBody, sessionBody]),
          400: errorBody,
          422: errorBody,
          429: errorBody,
          503: errorBody,
        },
      },
    },
    async (request, reply) => {
      const redirect = redirectWishOf(request, request.query.redirect_to);
      const result = await signUp(context, { ...request.body, origin: originOf(request), redirect });
      if (!('issued' in result)) return userJson(result.pending);
      // Tokens must not stay in caches.
      reply.header('cache-control', 'no-store');
      return sessionJson(result.issued);
    },
  );
}
