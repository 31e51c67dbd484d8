import type { App } from '@croft/http';
import { z } from 'zod';
import { originOf } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { lenientBody, textField } from '../requests.ts';
import { errorBody, sessionBody } from '../responses.ts';
import { sessionJson } from '../sessions/session-json.ts';
import { makeRecoveryCodes, type NewRecoveryCodes, remakeRecoveryCodes } from './make-recovery-codes.ts';
import { removeRecoveryCodes } from './unenrol-factor.ts';
import { countRecoveryCodes, useRecoveryCode } from './use-recovery-code.ts';

const type = z.literal('recovery_code');
const codesBody = z.object({
  id: z.string(),
  type,
  friendly_name: z.string(),
  total: z.int(),
  codes: z.array(z.string()),
});
const countBody = z.object({ id: z.string(), type, total: z.int(), remaining: z.int() });
const refusals = { 400: errorBody, 401: errorBody, 403: errorBody };
const security = [{ bearer: [] }];
const tags = ['second factors'];

/** Everything under /factors/recovery-codes. */
export function recoveryRoutes(app: App, context: AuthContext): void {
  app.get(
    '/factors/recovery-codes',
    {
      schema: {
        summary: 'How many recovery codes are left',
        tags,
        security,
        response: { 200: countBody, ...refusals, 404: errorBody },
      },
    },
    async (request) => {
      const { id, total, remaining } = await countRecoveryCodes(context, request.headers.authorization);
      return { id, type: 'recovery_code' as const, total, remaining };
    },
  );

  app.post(
    '/factors/recovery-codes',
    {
      schema: {
        summary: 'Make recovery codes',
        description: 'They are shown once.',
        tags,
        security,
        body: lenientBody({ friendly_name: textField }).nullish(),
        response: { 200: codesBody, ...refusals, 409: errorBody, 422: errorBody },
      },
    },
    async (request, reply) => {
      const wanted = { name: request.body?.friendly_name ?? '', origin: originOf(request) };
      reply.header('cache-control', 'no-store');
      return codesJson(await makeRecoveryCodes(context, request.headers.authorization, wanted));
    },
  );

  app.post(
    '/factors/recovery-codes/regenerate',
    {
      schema: {
        summary: 'Make new recovery codes in place of the old ones',
        tags,
        security,
        response: { 200: codesBody, ...refusals, 404: errorBody, 409: errorBody, 422: errorBody },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const { authorization } = request.headers;
      return codesJson(await remakeRecoveryCodes(context, authorization, originOf(request)));
    },
  );

  app.post(
    '/factors/recovery-codes/verify',
    {
      config: { limit: 'factors' },
      schema: {
        summary: 'Use up a recovery code in place of another second factor',
        tags,
        security,
        body: lenientBody({ code: textField }),
        response: { 200: sessionBody, ...refusals, 422: errorBody },
      },
    },
    async (request, reply) => {
      const answer = { code: request.body.code, origin: originOf(request) };
      reply.header('cache-control', 'no-store');
      return sessionJson(await useRecoveryCode(context, request.headers.authorization, answer));
    },
  );

  app.delete(
    '/factors/recovery-codes',
    {
      schema: {
        summary: 'Take the recovery codes away',
        tags,
        security,
        response: {
          200: z.object({ id: z.string() }),
          ...refusals,
          404: errorBody,
          409: errorBody,
          422: errorBody,
        },
      },
    },
    async (request) => ({
      id: await removeRecoveryCodes(context, request.headers.authorization, originOf(request)),
    }),
  );
}

function codesJson({ id, name, codes }: NewRecoveryCodes): z.infer<typeof codesBody> {
  return { id, type: 'recovery_code', friendly_name: name, total: codes.length, codes };
}
