import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import { emptySchema, errorSchema, optional, pageParameters, requiredText } from '../wire-schemas.ts';
import { accessTokenJson, accessTokenSchema } from './access-token-json.ts';
import { createAccessToken } from './create-access-token.ts';
import { deleteAccessToken } from './delete-access-token.ts';
import { listAccessTokens } from './list-access-tokens.ts';

const path = z.object({ username: z.string() });

/** `POST /users/{username}/tokens` */
export const create = endpoint({
  summary: 'Make a personal access token; it is shown this once',
  access: 'caller',
  area: 'user',
  params: path,
  body: z.object({ name: requiredText, scopes: optional.texts }),
  answers: { 201: accessTokenSchema, 400: errorSchema, 403: errorSchema, 404: errorSchema, 422: errorSchema },
  async handle({ params, body, caller }, context) {
    const wanted = { name: body.name, scopes: body.scopes ?? [] };
    const { row, secret } = await createAccessToken(context, caller, params.username, wanted);
    return { status: 201, body: accessTokenJson(row, secret) };
  },
});

/** `GET /users/{username}/tokens` */
export const list = endpoint({
  summary: 'Personal access tokens, without the tokens themselves',
  access: 'caller',
  area: 'user',
  params: path,
  query: z.object(pageParameters),
  answers: { 200: z.array(accessTokenSchema), 403: errorSchema, 404: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listAccessTokens(context, caller, params.username, query));
  },
});

/** `DELETE /users/{username}/tokens/{token}` */
export const remove = endpoint({
  summary: 'Revoke a personal access token, named by its id or its name',
  access: 'caller',
  area: 'user',
  params: path.extend({ token: z.string() }),
  answers: { 204: emptySchema, 403: errorSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    await deleteAccessToken(context, caller, params.username, params.token);
    return { status: 204 };
  },
});
