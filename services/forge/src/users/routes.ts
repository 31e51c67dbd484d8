import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { errorSchema } from '../wire-schemas.ts';
import { findUser } from './find-user.ts';
import { userJson, userSchema } from './user-json.ts';

/** `GET /user` */
export const caller = endpoint({
  summary: 'The account of the caller',
  access: 'caller',
  area: 'user',
  answers: { 200: userSchema, 401: errorSchema },
  async handle({ caller }, { links }) {
    return { status: 200, body: userJson(caller.user, caller, links) };
  },
});

/** `GET /users/{username}` */
export const show = endpoint({
  summary: 'An account',
  access: 'reader',
  area: 'user',
  params: z.object({ username: z.string() }),
  answers: { 200: userSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    return { status: 200, body: userJson(await findUser(context, params.username), caller, context.links) };
  },
});
