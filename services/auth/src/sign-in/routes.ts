import type { App } from '@croft/http';
import { z } from 'zod';
import { grantNeedsCaptcha } from '../caller/check-captcha.ts';
import { originOf } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { grantTypeUnsupported, idTokensOff, web3Off } from '../failures.ts';
import { lenientBody, queryText, textField } from '../requests.ts';
import { errorBody, sessionBody } from '../responses.ts';
import { sessionJson } from '../sessions/session-json.ts';
import { exchangeCode } from './exchange-code.ts';
import { refreshSession } from './refresh-session.ts';
import { signInWithPassword } from './sign-in-with-password.ts';

/** POST /token */
export function signInRoutes(app: App, context: AuthContext): void {
  app.post(
    '/token',
    {
      config: { form: true, limit: 'token', captcha: grantNeedsCaptcha },
      schema: {
        summary: 'Sign in, or refresh a session',
        description:
          '`grant_type` is `password` (body: email or phone, password) `refresh_token` (body: refresh_token) or `pkce` (body: auth_code, code_verifier); a form may have it in its body.',
        tags: ['sign-in'],
        querystring: z.object({ grant_type: queryText }),
        body: lenientBody({
          grant_type: textField,
          email: textField,
          phone: textField,
          password: textField,
          refresh_token: textField,
          auth_code: textField,
          code_verifier: textField,
        }),
        response: {
          200: sessionBody,
          400: errorBody,
          403: errorBody,
          404: errorBody,
          422: errorBody,
          503: errorBody,
        },
      },
    },
    async (request, reply) => {
      const { grant_type: ofBody, refresh_token: refreshToken, ...others } = request.body;
      const { auth_code: code, code_verifier: verifier, ...credentials } = others;
      // As RFC 6749 has it in forms; clients of JSON write it into the address.
      const grant = ofBody === '' ? request.query.grant_type : ofBody;
      const origin = originOf(request);
      // Tokens must not stay in caches (RFC 6749 §5.1).
      reply.header('cache-control', 'no-store');
      if (grant === 'refresh_token') {
        return sessionJson(await refreshSession(context, refreshToken, origin));
      }
      if (grant === 'pkce') {
        const { issued, tokens } = await exchangeCode(context, { code, verifier, origin });
        return sessionJson(issued, {
          ...(tokens === undefined ? {} : { provider_token: tokens.access }),
          ...(tokens?.refresh === undefined ? {} : { provider_refresh_token: tokens.refresh }),
        });
      }
      if (grant === 'web3') throw web3Off();
      if (grant === 'id_token') throw idTokensOff();
      if (grant !== 'password') throw grantTypeUnsupported();
      const { issued, weakness } = await signInWithPassword(context, { ...credentials, origin });
      return sessionJson(issued, weakness === undefined ? {} : { weak_password: weakness });
    },
  );
}
