import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { issueSchema } from '../issues/issue-json.ts';
import { showIssue } from '../issues/show-issue.ts';
import { listAnswer } from '../list-answer.ts';
import { errorSchema, numberedPath, optional, pageParameters } from '../wire-schemas.ts';
import { changeDependencies } from './change-dependencies.ts';
import { listDependencies } from './list-dependencies.ts';

const other = z.object({ index: z.int(), owner: optional.text, repo: optional.text });
const refusals = { 403: errorSchema, 404: errorSchema, 422: errorSchema, 423: errorSchema };

const listing = (summary: string, side: 'dependencies' | 'blocks') =>
  endpoint({
    summary,
    access: 'reader',
    area: 'issue',
    params: numberedPath,
    query: z.object(pageParameters),
    answers: { 200: z.array(issueSchema), 404: errorSchema },
    async handle({ params, query, caller, url }, context) {
      return listAnswer(context, url, await listDependencies(context, caller, params, side, query));
    },
  });

const changing = (summary: string, side: 'dependencies' | 'blocks', how: 'add' | 'remove') =>
  endpoint({
    summary,
    access: 'caller',
    area: 'issue',
    params: numberedPath,
    body: other,
    answers: { [how === 'add' ? 201 : 200]: issueSchema, ...refusals },
    async handle({ params, body, caller }, context) {
      await changeDependencies(context, caller, params, side, { how, other: body });
      return { status: how === 'add' ? 201 : 200, body: await showIssue(context, caller, params) };
    },
  });

/** `GET /repos/{owner}/{repo}/issues/{index}/dependencies` */
export const listDependenciesOf = listing('What an issue or pull request depends on', 'dependencies');
/** `POST /repos/{owner}/{repo}/issues/{index}/dependencies` */
export const addDependency = changing('Let an issue depend on another', 'dependencies', 'add');
/** `DELETE /repos/{owner}/{repo}/issues/{index}/dependencies` */
export const removeDependency = changing(
  'Let an issue no longer depend on another',
  'dependencies',
  'remove',
);
/** `GET /repos/{owner}/{repo}/issues/{index}/blocks` */
export const listBlocksOf = listing('What depends on an issue or pull request', 'blocks');
/** `POST /repos/{owner}/{repo}/issues/{index}/blocks` */
export const addBlock = changing('Let another issue depend on this one', 'blocks', 'add');
/** `DELETE /repos/{owner}/{repo}/issues/{index}/blocks` */
export const removeBlock = changing('Let another issue no longer depend on this one', 'blocks', 'remove');
