import { type App, PAGE_HEADERS, type Request, textsOf } from '@croft/http';
import { z } from 'zod';
import { originOf, redirectWishOf } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { queryText } from '../requests.ts';
import { errorBody } from '../responses.ts';
import { readChallenge } from '../rules/codes/code-challenge.ts';
import { beginSignIn } from './begin-sign-in.ts';
import { finishSignIn } from './finish-sign-in.ts';

const seeLocation = z.null().meta({ description: 'See Location' });

/** GET /authorize, GET and POST /callback */
export function externalRoutes(app: App, context: AuthContext): void {
  app.get(
    '/authorize',
    {
      config: { limit: 'authorize' },
      schema: {
        summary: 'Sign in with an external provider',
        description: 'Redirects to the provider; other parameters are passed on to it.',
        tags: ['external'],
        querystring: z.looseObject({
          provider: queryText,
          scopes: queryText,
          redirect_to: queryText,
          invite_token: queryText,
          code_challenge: queryText,
          code_challenge_method: queryText,
        }),
        response: { 302: seeLocation, 400: errorBody, 404: errorBody, 429: errorBody, 503: errorBody },
      },
    },
    async (request, reply) => {
      const { query } = request;
      const { url, cookie } = await beginSignIn(context, {
        provider: query.provider ?? '',
        scopes: query.scopes ?? '',
        inviteToken: query.invite_token ?? '',
        challenge: readChallenge(query),
        query,
        redirect: redirectWishOf(request, query.redirect_to),
      });
      return reply.headers({ 'cache-control': 'no-store', 'set-cookie': cookie }).redirect(url, 302);
    },
  );

  const schema = {
    description:
      'Redirects to the application, with the session or the refusal in the fragment; a sign-in that began with a code challenge ends in `code` in the query. Where an identity is linked and the browser is not known to be the one that began it, a page asks first.',
    tags: ['external'],
    response: {
      200: z.string().meta({ description: 'The page that asks, as HTML' }),
      302: seeLocation,
      303: seeLocation,
    },
  };
  app.get(
    '/callback',
    { schema: { ...schema, summary: 'Come back from a provider', querystring: z.looseObject({}) } },
    async (request, reply) => {
      const { status, location, headers, html } = await onward(context, request, request.query);
      reply.headers(headers);
      return html === undefined ? reply.redirect(location, status) : reply.send(html);
    },
  );
  app.post(
    '/callback',
    {
      config: { form: true },
      schema: {
        ...schema,
        summary: 'Come back from a provider that posts a form',
        response: { ...schema.response, 400: errorBody },
      },
    },
    async (request, reply) => {
      const { status, location, headers, html } = await onward(context, request, request.body);
      reply.headers(headers);
      return html === undefined ? reply.redirect(location, status) : reply.send(html);
    },
  );
}

async function onward(context: AuthContext, request: Request, fields: unknown) {
  const next = await finishSignIn(context, {
    fields: textsOf(fields),
    cookieHeader: request.headers.cookie,
    origin: originOf(request),
  });
  const { status, cookie } = next;
  const headers = { 'cache-control': 'no-store', ...(cookie === undefined ? {} : { 'set-cookie': cookie }) };
  if (next.status !== 200) return { status, headers, location: next.url };
  return { status, headers: { ...headers, ...PAGE_HEADERS }, location: '', html: next.page };
}
