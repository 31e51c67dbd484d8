import type { App } from '@croft/http';
import { z } from 'zod';
import { originOf } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { errorBody } from '../responses.ts';
import { endSession, listSessions } from './session-list.ts';
import { timestamp } from './user-json.ts';

const time = z.iso.datetime();
const sessionsBody = z.object({
  sessions: z.array(
    z
      .object({
        id: z.string(),
        created_at: time,
        refreshed_at: time.meta({ description: 'when its tokens were renewed last' }),
        not_after: time.optional(),
        user_agent: z.string(),
        ip: z.string(),
        aal: z.string(),
        methods: z.array(z.string()).meta({ description: 'values of `amr.method`, the last first' }),
        is_current: z.boolean(),
      })
      .meta({ title: 'OwnSession' }),
  ),
});
const refusals = { 400: errorBody, 401: errorBody, 403: errorBody };
const security = [{ bearer: [] }];

/** GET /user/sessions and DELETE /user/sessions/:session_id */
export function sessionRoutes(app: App, context: AuthContext): void {
  app.get(
    '/user/sessions',
    {
      schema: {
        summary: 'Where the user of the access token is signed in',
        tags: ['account'],
        security,
        response: { 200: sessionsBody, ...refusals },
      },
    },
    async (request) => {
      const { sessions, current } = await listSessions(context, request.headers.authorization);
      return {
        sessions: sessions.map((session) => ({
          id: session.id,
          created_at: timestamp(session.created_at),
          refreshed_at: timestamp(session.refreshed_at),
          ...(session.not_after === null ? {} : { not_after: timestamp(session.not_after) }),
          user_agent: session.user_agent ?? '',
          ip: session.ip ?? '',
          aal: session.aal,
          methods: session.methods,
          is_current: session.id === current,
        })),
      };
    },
  );

  app.delete(
    '/user/sessions/:session_id',
    {
      schema: {
        summary: 'Sign out one session of the user of the access token',
        tags: ['account'],
        security,
        params: z.object({ session_id: z.string() }),
        response: { 204: z.null().meta({ description: 'Done' }), ...refusals, 404: errorBody },
      },
    },
    async (request, reply) => {
      const { authorization } = request.headers;
      await endSession(context, authorization, request.params.session_id, originOf(request));
      return reply.code(204).send(null);
    },
  );
}
