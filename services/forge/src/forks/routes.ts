import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { listRepositories, NEWEST_FIRST } from '../repositories/list-repositories.ts';
import { presentRepository } from '../repositories/present-repositories.ts';
import { repositorySchema } from '../repositories/repository-json.ts';
import { errorSchema, optional, pageParameters, repositoryPath, requiredText } from '../wire-schemas.ts';
import { forkRepository } from './fork-repository.ts';
import { MERGE_TYPES, mergeUpstream } from './merge-upstream.ts';

/** `GET /repos/{owner}/{repo}/forks` */
export const list = endpoint({
  summary: 'Forks of a repository that the caller may know of, newest first',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  query: z.object(pageParameters),
  answers: { 200: z.array(repositorySchema), 404: errorSchema },
  async handle({ params, query, caller, url }, context) {
    const { repository } = await findRepository(context, caller, params);
    const filter = { forkOf: repository.id, ...NEWEST_FIRST };
    return listAnswer(context, url, await listRepositories(context, caller, filter, query));
  },
});

/** `POST /repos/{owner}/{repo}/forks` */
export const create = endpoint({
  summary: 'Fork a repository',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  body: z.object({ organization: optional.text, name: optional.text }),
  answers: { 202: repositorySchema, 403: errorSchema, 404: errorSchema, 409: errorSchema, 422: errorSchema },
  async handle({ params, body, caller }, context) {
    const wanted = { organization: body.organization ?? '', name: body.name ?? '' };
    const fork = await forkRepository(context, caller, params, wanted);
    return { status: 202, body: await presentRepository(context, caller, fork) };
  },
});

/** `POST /repos/{owner}/{repo}/merge-upstream` */
export const mergeParent = endpoint({
  summary: 'Bring a branch of a fork up to that of its parent',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  body: z.object({
    branch: requiredText,
    ff_only: optional.boolean.describe('refused with 400 when that would take a merge commit'),
  }),
  answers: {
    200: z.object({ merge_type: z.enum(MERGE_TYPES) }),
    400: errorSchema,
    403: errorSchema,
    404: errorSchema,
    409: errorSchema,
    413: errorSchema,
    422: errorSchema,
    423: errorSchema,
  },
  async handle({ params, body, caller }, context) {
    const wanted = { branch: body.branch, onlyForward: body.ff_only ?? false };
    return { status: 200, body: { merge_type: await mergeUpstream(context, caller, params, wanted) } };
  },
});
