import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import { emptySchema, errorSchema, optional, pageParameters, requiredText } from '../wire-schemas.ts';
import { applicationJson, applicationSchema, grantSchema } from './application-json.ts';
import {
  changeApplication,
  deleteApplication,
  findApplication,
  listApplications,
  makeApplication,
} from './own-applications.ts';
import { listGrants as findGrants, takeBackGrant } from './own-grants.ts';

const path = z.object({ id: z.string() });
const wish = z.object({
  name: requiredText,
  confidential_client: optional.boolean,
  skip_secondary_authorization: optional.boolean,
  redirect_uris: optional.texts,
});
const errors = { 403: errorSchema, 404: errorSchema };

/** `POST /user/applications/oauth2` */
export const create = endpoint({
  summary: 'Make an OAuth2 application; its secret is shown this once',
  access: 'caller',
  area: 'user',
  body: wish,
  answers: { 201: applicationSchema, 400: errorSchema, 403: errorSchema, 422: errorSchema },
  async handle({ body, caller }, context) {
    const { row, secret } = await makeApplication(context, caller, body);
    return { status: 201, body: applicationJson(row, secret) };
  },
});

/** `GET /user/applications/oauth2` */
export const list = endpoint({
  summary: 'OAuth2 applications of the caller, without their secrets',
  access: 'caller',
  area: 'user',
  query: z.object(pageParameters),
  answers: { 200: z.array(applicationSchema), 403: errorSchema },
  async handle({ query, caller, url }, context) {
    return listAnswer(context, url, await listApplications(context, caller, query));
  },
});

/** `GET /user/applications/oauth2/{id}` */
export const show = endpoint({
  summary: 'An OAuth2 application of the caller',
  access: 'caller',
  area: 'user',
  params: path,
  answers: { 200: applicationSchema, ...errors },
  async handle({ params, caller }, context) {
    return { status: 200, body: applicationJson(await findApplication(context, caller, params.id)) };
  },
});

/** `PATCH /user/applications/oauth2/{id}` */
export const edit = endpoint({
  summary: 'Change an OAuth2 application, which gets a new secret',
  access: 'caller',
  area: 'user',
  params: path,
  body: wish,
  answers: { 200: applicationSchema, 400: errorSchema, 422: errorSchema, ...errors },
  async handle({ params, body, caller }, context) {
    const { row, secret } = await changeApplication(context, caller, params.id, body);
    return { status: 200, body: applicationJson(row, secret) };
  },
});

/** `DELETE /user/applications/oauth2/{id}` */
export const remove = endpoint({
  summary: 'Delete an OAuth2 application; every token it has is of no use from then on',
  access: 'caller',
  area: 'user',
  params: path,
  answers: { 204: emptySchema, ...errors },
  async handle({ params, caller }, context) {
    await deleteApplication(context, caller, params.id);
    return { status: 204 };
  },
});

/** `GET /user/applications/grants` */
export const listGrants = endpoint({
  summary: 'Applications that the caller let act for him',
  access: 'caller',
  area: 'user',
  query: z.object(pageParameters),
  answers: { 200: z.array(grantSchema), 403: errorSchema },
  async handle({ query, caller, url }, context) {
    return listAnswer(context, url, await findGrants(context, caller, query));
  },
});

/** `DELETE /user/applications/grants/{id}` */
export const removeGrant = endpoint({
  summary:
    'Take back what an application was allowed; every token it has for the caller is of no use from then on',
  access: 'caller',
  area: 'user',
  params: path,
  answers: { 204: emptySchema, ...errors },
  async handle({ params, caller }, context) {
    await takeBackGrant(context, caller, params.id);
    return { status: 204 };
  },
});
