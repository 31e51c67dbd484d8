import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import { errorSchema, pageParameters, parameter, repositoryPath } from '../wire-schemas.ts';
import { branchSchema } from './branch-json.ts';
import { listBranches } from './list-branches.ts';
import { showBranch } from './show-branch.ts';

/** `GET /repos/{owner}/{repo}/branches` */
export const list = endpoint({
  summary: 'Branches of a repository',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  query: z.object({ q: parameter, ...pageParameters }),
  answers: { 200: z.array(branchSchema), 404: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listBranches(context, caller, params, query));
  },
});

/** `GET /repos/{owner}/{repo}/branches/{branch}`, slashes in the name encoded or not */
export const show = endpoint({
  summary: 'A branch',
  access: 'reader',
  area: 'repository',
  params: repositoryPath.extend({ '*': z.string() }),
  answers: { 200: branchSchema, 404: errorSchema },
  async handle({ params: { '*': branch, ...path }, caller }, context) {
    return { status: 200, body: await showBranch(context, caller, { ...path, branch }) };
  },
});
