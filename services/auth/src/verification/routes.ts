import { type App, PAGE_HEADERS } from '@croft/http';
import { z } from 'zod';
import { backToApplication } from '../caller/back-to-application.ts';
import { originOf, redirectWishOf } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { bodyIsNoJson } from '../failures.ts';
import { verifyPhoneCode } from '../phone/verify-phone-code.ts';
import { lenientBody, queryText, textField } from '../requests.ts';
import { errorBody, sessionBody } from '../responses.ts';
import { issuedOf } from '../sessions/prepare-sign-in.ts';
import { sessionJson } from '../sessions/session-json.ts';
import { checkVerification } from './check-verification.ts';
import { confirmPage } from './confirm-page.ts';
import { followLink, targetOf } from './follow-link.ts';
import { OTHER_ADDRESS_NEXT } from './other-address-next.ts';
import { verifyCode } from './verify-code.ts';

const linkQuery = z.object({ type: queryText, token: queryText, redirect_to: queryText });
const redirected = z.null().meta({ description: 'See Location' });
const halfBody = z.object({ msg: z.string(), code: z.literal('200') });

/** GET and POST /verify */
export function verificationRoutes(app: App, context: AuthContext): void {
  app.get(
    '/verify',
    {
      config: { limit: 'verify' },
      schema: {
        summary: 'Open a link from a mail',
        description:
          'Signs in and redirects, with the session or the refusal in the fragment; a link that was asked for with a code challenge ends in `code` in the query. With `MAILER_LINK_CONFIRM_PAGE` it answers a page whose button does that.',
        tags: ['verification'],
        querystring: linkQuery,
        response: {
          200: z.string().meta({ description: 'The page, as HTML' }),
          303: redirected,
          400: errorBody,
        },
      },
    },
    async (request, reply) => {
      const { type = '', token = '', redirect_to: parameter = '' } = request.query;
      const redirect = redirectWishOf(request, parameter);
      const link = { type, token, redirect, origin: originOf(request) };
      reply.header('cache-control', 'no-store');
      if (!context.settings.MAILER_LINK_CONFIRM_PAGE) {
        return reply.redirect(await followLink(context, link), 303);
      }
      const target = targetOf(context, link);
      const query = new URLSearchParams({ type, token, redirect_to: target });
      return reply.headers(PAGE_HEADERS).send(confirmPage(query));
    },
  );

  app.post(
    '/verify',
    {
      config: { limit: 'verify' },
      schema: {
        summary: 'Verify a code or the token of a link',
        description:
          'Without a body, and with the parameters of GET /verify, it is the button of the page which that answers with `MAILER_LINK_CONFIRM_PAGE`.',
        tags: ['verification'],
        querystring: linkQuery,
        body: lenientBody({
          type: textField,
          token: textField,
          token_hash: textField,
          email: textField,
          phone: textField,
          redirect_to: textField,
          password: textField,
        }).nullish(),
        response: {
          200: z.union([
            sessionBody,
            halfBody,
            z.string().meta({ description: 'The page that leads on, as HTML' }),
          ]),
          400: errorBody,
          403: errorBody,
          422: errorBody,
          503: errorBody,
        },
      },
    },
    async (request, reply) => {
      if (!request.body) {
        const { type = '', token = '', redirect_to: parameter } = request.query;
        if (!context.settings.MAILER_LINK_CONFIRM_PAGE) throw bodyIsNoJson('unexpected end of JSON input');
        const link = { type, token, redirect: redirectWishOf(request, parameter), origin: originOf(request) };
        const page = backToApplication(await followLink(context, link));
        return reply.headers({ ...PAGE_HEADERS, 'cache-control': 'no-store' }).send(page);
      }
      const { token_hash: tokenHash, redirect_to: redirectTo, password, ...fields } = request.body;
      const proof = checkVerification({ ...fields, tokenHash, redirectTo });
      const origin = originOf(request);
      reply.header('cache-control', 'no-store');
      if ('phone' in proof) return sessionJson((await verifyPhoneCode(context, { ...proof, origin })).issued);
      const verified = await verifyCode(context, {
        type: fields.type,
        proof,
        password,
        inAddress: false,
        origin,
      });
      if (verified === 'other-address-next') return { msg: OTHER_ADDRESS_NEXT, code: '200' as const };
      return sessionJson(issuedOf(verified), { type: verified.type });
    },
  );
}
