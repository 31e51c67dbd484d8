import type { App } from '@croft/http';
import { z } from 'zod';
import { userJson } from '../account/user-json.ts';
import { originOf, redirectWishOf } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { lenientBody, objectField, queryText, textField } from '../requests.ts';
import { errorBody, userBody } from '../responses.ts';
import { checkUserId } from '../rules/users/admin-user.ts';
import { recogniseAdministrators } from './administrators.ts';
import { createUser } from './create-user.ts';
import { generateLink } from './generate-link.ts';
import { invite } from './invite.ts';
import { linkBody, linkJson } from './link-json.ts';
import { managementRoutes } from './management-routes.ts';
import { showUser } from './show-user.ts';
import { updateUser } from './update-user.ts';
import type { UserFields } from './user-fields.ts';

const flagField = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false);

const userFields = {
  role: textField,
  email: textField,
  phone: textField,
  password: textField,
  password_hash: textField,
  email_confirm: flagField,
  phone_confirm: flagField,
  user_metadata: objectField,
  app_metadata: objectField,
  ban_duration: textField,
};
const updateBody = lenientBody(userFields);
const newUserBody = lenientBody({ ...userFields, id: textField, aud: textField });
const userIdPath = z.object({ user_id: z.string() });
const redirectQuery = z.object({ redirect_to: queryText });
const refusals = { 400: errorBody, 401: errorBody, 403: errorBody, 422: errorBody };
const security = [{ bearer: [] }];

/** Everything of administrators: the rest is in `management-routes.ts`. */
export function adminRoutes(app: App, context: AuthContext): void {
  const administrators = recogniseAdministrators(context);
  const { onRequest, of: adminOf } = administrators;
  managementRoutes(app, context, administrators);

  app.post(
    '/admin/users',
    {
      onRequest,
      schema: {
        summary: 'Make a user',
        tags: ['administration'],
        security,
        body: newUserBody,
        response: { 200: userBody, ...refusals },
      },
    },
    async (request) => {
      const { id, aud } = request.body;
      const wanted = { ...fieldsOf(request.body), id, aud, origin: originOf(request) };
      return userJson(await createUser(context, adminOf(request), wanted));
    },
  );

  app.get(
    '/admin/users/:user_id',
    {
      onRequest,
      schema: {
        summary: 'A user',
        tags: ['administration'],
        security,
        params: userIdPath,
        response: { 200: userBody, 401: errorBody, 403: errorBody, 404: errorBody },
      },
    },
    async (request) => userJson(await showUser(context, request.params.user_id)),
  );

  app.post(
    '/admin/users/:user_id',
    {
      onRequest,
      schema: {
        summary: 'Make a user with an id of your choosing',
        tags: ['administration'],
        security,
        params: userIdPath,
        body: newUserBody,
        response: { 200: userBody, ...refusals, 404: errorBody },
      },
    },
    async (request) => {
      // The id of the path wins over the one of the body.
      const id = checkUserId(request.params.user_id);
      const wanted = { ...fieldsOf(request.body), id, aud: request.body.aud, origin: originOf(request) };
      return userJson(await createUser(context, adminOf(request), wanted));
    },
  );

  app.put(
    '/admin/users/:user_id',
    {
      onRequest,
      schema: {
        summary: 'Change a user',
        description: 'What is absent, empty or false stays as it is.',
        tags: ['administration'],
        security,
        params: userIdPath,
        body: updateBody,
        response: { 200: userBody, ...refusals, 404: errorBody },
      },
    },
    async (request) => {
      const userId = request.params.user_id;
      const wanted = { ...fieldsOf(request.body), userId, origin: originOf(request) };
      return userJson(await updateUser(context, adminOf(request), wanted));
    },
  );

  app.post(
    '/admin/generate_link',
    {
      onRequest,
      schema: {
        summary: 'Make the link of a mail without sending it',
        tags: ['administration'],
        security,
        querystring: redirectQuery,
        body: lenientBody({
          type: textField,
          email: textField,
          new_email: textField,
          password: textField,
          data: objectField,
          redirect_to: textField,
        }),
        response: { 200: linkBody, ...refusals, 404: errorBody },
      },
    },
    async (request, reply) => {
      const { new_email: newEmail, redirect_to: redirectTo, ...fields } = request.body;
      const redirect = redirectWishOf(request, request.query.redirect_to);
      const wanted = { ...fields, newEmail, redirectTo, redirect, origin: originOf(request) };
      reply.header('cache-control', 'no-store');
      return linkJson(await generateLink(context, adminOf(request), wanted));
    },
  );

  app.post(
    '/invite',
    {
      onRequest,
      config: { unshared: true },
      schema: {
        summary: 'Mail an invitation',
        tags: ['administration'],
        security,
        querystring: redirectQuery,
        body: lenientBody({ email: textField, data: objectField }),
        response: { 200: userBody, ...refusals, 429: errorBody },
      },
    },
    async (request) => {
      const redirect = redirectWishOf(request, request.query.redirect_to);
      const invitation = { ...request.body, redirect, origin: originOf(request) };
      return userJson(await invite(context, adminOf(request), invitation));
    },
  );
}

function fieldsOf(body: z.infer<typeof updateBody>): UserFields {
  return {
    role: body.role,
    email: body.email,
    phone: body.phone,
    password: body.password,
    passwordHash: body.password_hash,
    emailConfirm: body.email_confirm,
    phoneConfirm: body.phone_confirm,
    userMetadata: body.user_metadata,
    appMetadata: body.app_metadata,
    banDuration: body.ban_duration,
  };
}
