import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import { errorSchema, optional, pageParameters, parameter } from '../wire-schemas.ts';
import { findAccount } from './find-user.ts';
import { searchUsers } from './search-users.ts';
import { userJson, userSchema } from './user-json.ts';
import { editUserSettings, userSettingsJson, userSettingsSchema } from './user-settings.ts';

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
  summary: 'An account, of a person or an organization',
  access: 'reader',
  area: 'user',
  params: z.object({ username: z.string() }),
  answers: { 200: userSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    const account = await findAccount(context, caller, params.username);
    return { status: 200, body: userJson(account, caller, context.links) };
  },
});

/** `GET /users/search` */
export const search = endpoint({
  summary: 'People by a part of their name',
  access: 'reader',
  area: 'user',
  query: z.object({ ...pageParameters, q: parameter, uid: parameter.describe('only the one with this id') }),
  answers: { 200: z.object({ ok: z.boolean(), data: z.array(userSchema) }) },
  async handle({ query, caller, url }, context) {
    const found = await searchUsers(context, caller, query);
    return { ...listAnswer(context, url, found), body: { ok: true, data: found.items } };
  },
});

/** `GET /user/emails` */
export const emails = endpoint({
  summary: "The caller's addresses; the auth service keeps one for each",
  access: 'caller',
  area: 'user',
  answers: {
    200: z.array(
      z.object({
        email: z.string(),
        verified: z.boolean(),
        primary: z.boolean(),
        user_id: z.int(),
        username: z.string(),
      }),
    ),
  },
  async handle({ caller }) {
    const { email, id, login } = caller.user;
    const own = { email, verified: true, primary: true, user_id: id, username: login };
    return { status: 200, body: email === '' ? [] : [own] };
  },
});

/** `GET /user/settings` */
export const settings = endpoint({
  summary: "The caller's settings",
  access: 'caller',
  area: 'user',
  answers: { 200: userSettingsSchema },
  async handle({ caller }) {
    return { status: 200, body: userSettingsJson(caller.user) };
  },
});

/** `PATCH /user/settings` */
export const editSettings = endpoint({
  summary: "Change the caller's settings",
  access: 'caller',
  area: 'user',
  body: z.object({
    full_name: optional.text,
    website: optional.text,
    description: optional.text,
    location: optional.text,
    hide_email: optional.boolean,
  }),
  answers: { 200: userSettingsSchema, 422: errorSchema },
  async handle({ body, caller }, context) {
    const after = await editUserSettings(context, caller, {
      fullName: body.full_name ?? undefined,
      website: body.website ?? undefined,
      description: body.description ?? undefined,
      location: body.location ?? undefined,
      hidesEmail: body.hide_email ?? undefined,
    });
    return { status: 200, body: userSettingsJson(after) };
  },
});
