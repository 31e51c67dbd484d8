import { z } from 'zod';
import { commitSchema } from '../commits/commit-json.ts';
import { endpoint } from '../endpoint.ts';
import { pagedAnswer } from '../list-answer.ts';
import { errorSchema, numberedPath, pageParameters, parameter, repositoryPath } from '../wire-schemas.ts';
import { changedFileSchema } from './changed-file-json.ts';
import { listPullCommits, listPullFiles } from './list-changes.ts';
import { singlePullSchema } from './show-pull.ts';
import { showPullBetween } from './show-pull-between.ts';

/** `GET /repos/{owner}/{repo}/pulls/{base}/{head}` */
export const between = endpoint({
  summary: 'The newest pull request between two branches',
  access: 'reader',
  area: 'repository',
  params: repositoryPath.extend({ base: z.string(), '*': z.string() }),
  answers: { 200: singlePullSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    return { status: 200, body: await showPullBetween(context, caller, { ...params, head: params['*'] }) };
  },
});

/** `GET /repos/{owner}/{repo}/pulls/{index}/commits` */
export const commits = endpoint({
  summary: 'Commits of a pull request, newest first',
  access: 'reader',
  area: 'repository',
  params: numberedPath,
  query: z.object({ ...pageParameters, stat: parameter, files: parameter, verification: parameter }),
  answers: { 200: z.array(commitSchema), 404: errorSchema, 422: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return pagedAnswer(context, url, await listPullCommits(context, caller, params, query));
  },
});

/** `GET /repos/{owner}/{repo}/pulls/{index}/files` */
export const files = endpoint({
  summary: 'Files that a pull request changes',
  access: 'reader',
  area: 'repository',
  params: numberedPath,
  query: z.object({
    ...pageParameters,
    whitespace: parameter.describe('`ignore-all`, `ignore-change` or `ignore-eol`: counts no such lines'),
    'skip-to': parameter.describe('path of the file to begin with'),
  }),
  answers: { 200: z.array(changedFileSchema), 404: errorSchema, 422: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return pagedAnswer(context, url, await listPullFiles(context, caller, params, query));
  },
});
