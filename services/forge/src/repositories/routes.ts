import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import {
  emptySchema,
  errorSchema,
  optional,
  pageParameters,
  repositoryPath,
  requiredText,
} from '../wire-schemas.ts';
import { createRepository } from './create-repository.ts';
import { deleteRepository } from './delete-repository.ts';
import { listOwnRepositories } from './list-own-repositories.ts';
import { repositoryJson, repositorySchema } from './repository-json.ts';
import { showRepository } from './show-repository.ts';

/** `POST /user/repos` */
export const create = endpoint({
  summary: 'Make a repository of the caller',
  access: 'caller',
  area: 'repository',
  body: z.object({
    name: requiredText,
    description: optional.text,
    private: optional.boolean,
    auto_init: optional.boolean,
    default_branch: optional.text,
  }),
  answers: { 201: repositorySchema, 409: errorSchema, 422: errorSchema },
  async handle({ body, caller }, context) {
    const row = await createRepository(context, caller, {
      name: body.name,
      description: body.description ?? '',
      private: body.private ?? false,
      autoInit: body.auto_init ?? false,
      defaultBranch: body.default_branch || context.settings.DEFAULT_BRANCH,
    });
    return { status: 201, body: repositoryJson(row, caller.user, caller, context.links) };
  },
});

/** `GET /user/repos` */
export const listOwn = endpoint({
  summary: 'Repositories of the caller, newest first',
  access: 'caller',
  area: 'repository',
  query: z.object(pageParameters),
  answers: { 200: z.array(repositorySchema) },
  async handle({ query, caller, url }, context) {
    return listAnswer(context, url, await listOwnRepositories(context, caller, query));
  },
});

/** `GET /repos/{owner}/{repo}` */
export const show = endpoint({
  summary: 'A repository',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  answers: { 200: repositorySchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    return { status: 200, body: await showRepository(context, caller, params) };
  },
});

/** `DELETE /repos/{owner}/{repo}` */
export const remove = endpoint({
  summary: 'Remove a repository with everything in it',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  answers: { 204: emptySchema, 403: errorSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    await deleteRepository(context, caller, params);
    return { status: 204 };
  },
});
