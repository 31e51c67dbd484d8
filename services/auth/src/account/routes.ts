import type { App } from '@croft/http';
import { z } from 'zod';
import { authenticateCaller } from '../caller/authenticate-caller.ts';
import { originOf, redirectWishOf } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { lenientBody, objectField, queryText, textField } from '../requests.ts';
import { errorBody, userBody } from '../responses.ts';
import { readChallenge } from '../rules/codes/code-challenge.ts';
import { getUser } from './get-user.ts';
import { logOut } from './log-out.ts';
import { requestReauthentication } from './request-reauthentication.ts';
import { updateUser } from './update-user.ts';
import { userJson } from './user-json.ts';

const refusals = { 400: errorBody, 401: errorBody, 403: errorBody, 422: errorBody, 429: errorBody };

/** GET and PUT /user, GET /reauthenticate and POST /logout */
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

  app.put(
    '/user',
    {
      config: { limit: 'user' },
      schema: {
        summary: 'Change the user of the access token',
        description:
          'A new address or number comes into force once it is confirmed; until then the present one takes the change back. `data` is laid over the metadata; members that are null are removed.',
        tags: ['account'],
        security: [{ bearer: [] }],
        querystring: z.object({ redirect_to: queryText }),
        body: lenientBody({
          email: textField,
          phone: textField,
          channel: textField,
          // Unlike no password, an empty one is refused; U+0000 is none that could be typed when signing in.
          password: z
            .string()
            .refine((value) => !value.includes('\0'), 'a text cannot contain the character U+0000')
            .nullish(),
          nonce: textField,
          current_password: textField,
          data: objectField,
          app_metadata: objectField,
          code_challenge: textField,
          code_challenge_method: textField,
        }),
        response: { 200: userBody, ...refusals, 503: errorBody },
      },
    },
    async (request) => {
      const caller = await authenticateCaller(context, request.headers.authorization);
      const {
        app_metadata: appMetadata,
        password,
        current_password: currentPassword,
        ...fields
      } = request.body;
      const challenge = readChallenge(fields);
      const changed = await updateUser(context, caller, {
        ...fields,
        appMetadata,
        password: password ?? undefined,
        currentPassword,
        challenge,
        redirect: redirectWishOf(request, request.query.redirect_to),
        origin: originOf(request),
      });
      return userJson(changed);
    },
  );

  app.get(
    '/reauthenticate',
    {
      config: { limit: 'user' },
      schema: {
        summary: 'Send a nonce that permits a new password',
        description: 'To the address of the user of the access token, or to the number of who has none.',
        tags: ['account'],
        security: [{ bearer: [] }],
        response: { 200: z.object({ message_id: z.string().optional() }), ...refusals },
      },
    },
    async (request) => {
      const { person } = await authenticateCaller(context, request.headers.authorization);
      const messageId = await requestReauthentication(context, person, originOf(request));
      return messageId === undefined ? {} : { message_id: messageId };
    },
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
