import type { App, Request } from '@croft/http';
import { z } from 'zod';
import { grantNeedsCaptcha } from '../caller/check-captcha.ts';
import { grantOf } from '../caller/grant.ts';
import { originOf } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import type { PresentedIdToken } from '../external/read-id-token.ts';
import { signInWithIdToken } from '../external/sign-in-with-id-token.ts';
import { grantTypeUnsupported } from '../failures.ts';
import { linkWithIdToken } from '../identities/link-with-id-token.ts';
import type { BucketName } from '../limits/limits.ts';
import { flagField, lastField, lenientBody, queryText, textField } from '../requests.ts';
import { errorBody, sessionBody } from '../responses.ts';
import { readRefreshToken } from '../rules/tokens/refresh-token.ts';
import { sessionJson } from '../sessions/session-json.ts';
import { signInWithWallet } from '../web3/sign-in-with-wallet.ts';
import { exchangeCode } from './exchange-code.ts';
import { refreshSession } from './refresh-session.ts';
import { signInWithPassword } from './sign-in-with-password.ts';

/** POST /token */
export function signInRoutes(app: App, context: AuthContext): void {
  app.post(
    '/token',
    {
      config: { form: true, limit: tokenBucketOf(context), captcha: grantNeedsCaptcha },
      schema: {
        summary: 'Sign in, or refresh a session',
        description:
          '`grant_type` is `password` (body: email or phone, password) `refresh_token` (body: refresh_token) `pkce` (body: auth_code, code_verifier) `id_token` (body: id_token, provider, nonce, access_token; with link_identity it links to the user of the access token) or `web3` (body: chain, message, signature); a form may have it in its body.',
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
          chain: textField,
          message: textField,
          signature: textField,
          id_token: textField,
          provider: textField,
          issuer: textField,
          client_id: textField,
          nonce: textField,
          access_token: textField,
          link_identity: flagField,
        }),
        response: {
          200: sessionBody,
          400: errorBody,
          401: errorBody,
          403: errorBody,
          404: errorBody,
          409: errorBody,
          422: errorBody,
          503: errorBody,
        },
      },
    },
    async (request, reply) => {
      const { grant_type: ofBody, refresh_token: refreshToken, ...others } = request.body;
      const { auth_code: code, code_verifier: verifier, chain, message, signature, ...credentials } = others;
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
      if (grant === 'web3') {
        return sessionJson(await signInWithWallet(context, { chain, message, signature, origin }));
      }
      if (grant === 'id_token') {
        const presented = presentedIn(request.body);
        if (!request.body.link_identity)
          return sessionJson(await signInWithIdToken(context, presented, origin));
        const { authorization } = request.headers;
        return sessionJson(await linkWithIdToken(context, authorization, presented, origin));
      }
      if (grant !== 'password') throw grantTypeUnsupported();
      const { issued, weakness } = await signInWithPassword(context, { ...credentials, origin });
      return sessionJson(issued, weakness === undefined ? {} : { weak_password: weakness });
    },
  );
}

/** `limit` of POST /token: a token of ours is not guessed, and counts for its session when it is refreshed. */
function tokenBucketOf({ atRest }: AuthContext): (request: Request) => BucketName | undefined {
  return (request) => {
    if (grantOf(request) !== 'refresh_token') return 'token';
    const token = lastField(request.body, 'refresh_token');
    const isOurs = typeof token === 'string' && readRefreshToken(token, atRest.refreshTokens) !== undefined;
    return isOurs ? undefined : 'token';
  };
}

/** An ID token as the body has it. */
function presentedIn(
  body: Record<'id_token' | 'access_token' | 'client_id', string> &
    Pick<PresentedIdToken, 'provider' | 'issuer' | 'nonce'>,
): PresentedIdToken {
  const { id_token: idToken, access_token: accessToken, client_id: clientId, provider, issuer, nonce } = body;
  return { idToken, accessToken, clientId, provider, issuer, nonce };
}
