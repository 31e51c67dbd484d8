import type { App } from '@croft/http';
import { z } from 'zod';
import { originOf } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { lenientBody, textField } from '../requests.ts';
import { errorBody, sessionBody } from '../responses.ts';
import { sessionJson } from '../sessions/session-json.ts';
import { adminFactorRoutes } from './admin-routes.ts';
import { challengeFactor } from './challenge-factor.ts';
import { type EnrolledFactor, enrolFactor } from './enrol-factor.ts';
import { recoveryRoutes } from './recovery-routes.ts';
import { unenrolFactor } from './unenrol-factor.ts';
import { verifyFactor } from './verify-factor.ts';

const enrolledBody = z.object({
  id: z.string(),
  type: z.enum(['totp', 'phone']),
  friendly_name: z.string(),
  totp: z
    .object({
      qr_code: z.string().meta({ description: 'SVG' }),
      secret: z.string().meta({ description: 'base32' }),
      uri: z.string(),
    })
    .optional(),
  phone: z.string().optional(),
});
const challengeBody = z.object({
  id: z.string(),
  type: z.string(),
  expires_at: z.int().meta({ description: 'seconds since the epoch' }),
});
const factorPath = z.object({ factor_id: z.string() });
const refusals = { 400: errorBody, 401: errorBody, 403: errorBody, 422: errorBody };
const security = [{ bearer: [] }];
const tags = ['second factors'];

/** Everything of second factors. */
export function factorRoutes(app: App, context: AuthContext): void {
  adminFactorRoutes(app, context);
  recoveryRoutes(app, context);

  app.post(
    '/factors',
    {
      schema: {
        summary: 'Add a second factor',
        description: 'It counts once a challenge was answered with its first code.',
        tags,
        security,
        body: lenientBody({
          factor_type: textField,
          friendly_name: textField,
          issuer: textField,
          phone: textField,
        }),
        response: { 200: enrolledBody, ...refusals, 409: errorBody },
      },
    },
    async (request, reply) => {
      const { factor_type: type, friendly_name: name, ...others } = request.body;
      const wanted = { type, name, ...others, origin: originOf(request) };
      // It has the key in it.
      reply.header('cache-control', 'no-store');
      return enrolledJson(await enrolFactor(context, request.headers.authorization, wanted));
    },
  );

  app.post(
    '/factors/:factor_id/challenge',
    {
      config: { limit: 'factors' },
      schema: {
        summary: 'Ask for the code of a second factor',
        tags,
        security,
        params: factorPath,
        body: lenientBody({ channel: textField }).nullish(),
        response: { 200: challengeBody, ...refusals, 404: errorBody },
      },
    },
    async (request) => {
      const { id, type, expiresAt } = await challengeFactor(context, request.headers.authorization, {
        factorId: request.params.factor_id,
        channel: request.body?.channel ?? '',
        origin: originOf(request),
      });
      return { id, type, expires_at: Math.floor(expiresAt.getTime() / 1000) };
    },
  );

  app.post(
    '/factors/:factor_id/verify',
    {
      config: { limit: 'factors' },
      schema: {
        summary: 'Show a second factor',
        description: 'The session goes on with new tokens, and sessions that did not show one end.',
        tags,
        security,
        params: factorPath,
        body: lenientBody({ challenge_id: textField, code: textField }),
        response: { 200: sessionBody, ...refusals, 404: errorBody },
      },
    },
    async (request, reply) => {
      const answer = {
        factorId: request.params.factor_id,
        challengeId: request.body.challenge_id,
        code: request.body.code,
        origin: originOf(request),
      };
      reply.header('cache-control', 'no-store');
      return sessionJson(await verifyFactor(context, request.headers.authorization, answer));
    },
  );

  app.delete(
    '/factors/:factor_id',
    {
      schema: {
        summary: 'Take a second factor away',
        tags,
        security,
        params: factorPath,
        response: { 200: z.object({ id: z.string() }), ...refusals, 404: errorBody, 409: errorBody },
      },
    },
    async (request) => {
      const { authorization } = request.headers;
      const { factor_id: factorId } = request.params;
      return { id: await unenrolFactor(context, authorization, factorId, originOf(request)) };
    },
  );
}

function enrolledJson(factor: EnrolledFactor): z.infer<typeof enrolledBody> {
  const { id, type, name } = factor;
  return {
    id,
    type,
    friendly_name: name,
    ...(factor.type === 'totp'
      ? { totp: { qr_code: factor.qrCode, secret: factor.secret, uri: factor.uri } }
      : { phone: factor.phone }),
  };
}
