import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import { errorSchema, optional, pageParameters, parameter, repositoryPath } from '../wire-schemas.ts';
import { createStatus } from './create-status.ts';
import { combinedStatusSchema, listStatuses, showCombinedStatus } from './list-statuses.ts';
import { statusSchema } from './status-json.ts';

const commitPath = repositoryPath.extend({ sha: z.string() });
const refPath = repositoryPath.extend({ ref: z.string() });

/** `POST /repos/{owner}/{repo}/statuses/{sha}` */
export const create = endpoint({
  summary: 'Say how a check of a commit stands',
  access: 'caller',
  area: 'repository',
  params: commitPath,
  body: z.object({
    state: optional.text,
    context: optional.text,
    target_url: optional.text,
    description: optional.text,
  }),
  answers: { 201: statusSchema, 403: errorSchema, 404: errorSchema, 422: errorSchema, 423: errorSchema },
  async handle({ params, body, caller }, context) {
    const status = await createStatus(context, caller, params, {
      state: body.state ?? '',
      context: body.context ?? '',
      targetUrl: body.target_url ?? '',
      description: body.description ?? '',
    });
    return { status: 201, body: status };
  },
});

/** `GET /repos/{owner}/{repo}/statuses/{sha}` */
export const list = endpoint({
  summary: 'What was said of a commit',
  access: 'reader',
  area: 'repository',
  params: commitPath,
  query: z.object({ sort: parameter, state: parameter, ...pageParameters }),
  answers: { 200: z.array(statusSchema), 404: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listStatuses(context, caller, params, query));
  },
});

/** `GET /repos/{owner}/{repo}/commits/{ref}/statuses` */
export const listOfRef = endpoint({
  summary: 'What was said of the commit that a branch, a tag or an id names',
  access: 'reader',
  area: 'repository',
  params: refPath,
  query: z.object({ sort: parameter, state: parameter, ...pageParameters }),
  answers: { 200: z.array(statusSchema), 404: errorSchema },
  async handle({ params: { ref, ...path }, query, caller, url }, context) {
    return listAnswer(context, url, await listStatuses(context, caller, { ...path, sha: ref }, query));
  },
});

/** `GET /repos/{owner}/{repo}/commits/{ref}/status` */
export const combined = endpoint({
  summary: 'How the checks of a commit stand together',
  access: 'reader',
  area: 'repository',
  params: refPath,
  query: z.object(pageParameters),
  answers: { 200: combinedStatusSchema, 404: errorSchema },
  async handle({ params: { ref, ...path }, query, caller }, context) {
    return { status: 200, body: await showCombinedStatus(context, caller, { ...path, sha: ref }, query) };
  },
});
