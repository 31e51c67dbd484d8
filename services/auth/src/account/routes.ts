import type { App } from '@croft/http';
import { z } from 'zod';
import { authenticateCaller } from '../caller/authenticate-caller.ts';
import { originOf } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { queryText } from '../requests.ts';
import { errorBody, userBody } from '../responses.ts';
import { getUser } from './get-user.ts';
import { logOut } from './log-out.ts';
import { userJson } from './user-json.ts';

/** GET /user and POST /logout */
export function accountRoutes(app: App, context: AuthContext): void {
  app.get(
    '/user',
    {
      schema: {
        summary: 'The user of the access token',
        tags: ['account'],
        security: [{ bearer: [] }],
        response: { 200: userBody, 400: errorBody, 401: errorBody, 403: errorBody },
      },
    },
    async (request) =>
      userJson(await getUser(context, request.headers.authorization, originOf(request).audience)),
  );

  app.post(
    '/logout',
    {
      schema: {
        summary: 'Sign out',
        description: '`scope` is `global` (default), `local` (this session) or `others` (all but this one).',
        tags: ['account'],
        security: [{ bearer: [] }],
        querystring: z.object({ scope: queryText }),
        response: {
          204: z.null().meta({ description: 'Done' }),
          400: errorBody,
          401: errorBody,
          403: errorBody,
        },
      },
    },
    async (request, reply) => {
      const caller = await authenticateCaller(context, request.headers.authorization);
      await logOut(context, caller, request.query.scope || 'global', originOf(request));
      return reply.code(204).send(null);
    },
  );
}
