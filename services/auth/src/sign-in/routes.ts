import type { App } from '@croft/http';
import { z } from 'zod';
import { originOf } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { grantTypeUnsupported } from '../failures.ts';
import { lenientBody, queryText, textField } from '../requests.ts';
import { errorBody, sessionBody } from '../responses.ts';
import { sessionJson } from '../sessions/session-json.ts';
import { refreshSession } from './refresh-session.ts';
import { signInWithPassword } from './sign-in-with-password.ts';

/** POST /token */
export function signInRoutes(app: App, context: AuthContext): void {
  app.post(
    '/token',
    {
      schema: {
        summary: 'Sign in, or refresh a session',
        description:
          '`grant_type` is `password` (body: email, password) or `refresh_token` (body: refresh_token).',
        tags: ['sign-in'],
        querystring: z.object({ grant_type: queryText }),
        body: lenientBody({
          email: textField,
          phone: textField,
          password: textField,
          refresh_token: textField,
        }),
        response: { 200: sessionBody, 400: errorBody, 422: errorBody, 503: errorBody },
      },
    },
    async (request, reply) => {
      const { refresh_token: refreshToken, ...credentials } = request.body;
      const origin = originOf(request);
      // Tokens must not stay in caches (RFC 6749 §5.1).
      reply.header('cache-control', 'no-store');
      if (request.query.grant_type === 'refresh_token') {
        return sessionJson(await refreshSession(context, refreshToken, origin));
      }
      if (request.query.grant_type !== 'password') throw grantTypeUnsupported();
      const { issued, weakness } = await signInWithPassword(context, { ...credentials, origin });
      return sessionJson(issued, weakness === undefined ? {} : { weak_password: weakness });
    },
  );
}
