import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { pagedAnswer } from '../list-answer.ts';
import { singlePullSchema } from '../pulls/show-pull.ts';
import { readMediaType } from '../rules/files/media-type.ts';
import { errorSchema, pageParameters, parameter, repositoryPath } from '../wire-schemas.ts';
import { commitSchema } from './commit-json.ts';
import { compareCommits, showComparison } from './compare-commits.ts';
import { listCommits } from './list-commits.ts';
import { readParts } from './present-commits.ts';
import { revisionParameter } from './resolve-commit.ts';
import { showCommit, showCommitChanges } from './show-commit.ts';
import { showMergedPull } from './show-merged-pull.ts';

const commitPath = repositoryPath.extend({ sha: z.string() });
const partParameters = { stat: parameter, files: parameter, verification: parameter };

/** `GET /repos/{owner}/{repo}/commits` */
export const list = endpoint({
  summary: 'Commits before a branch, tag or commit, newest first',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  query: z.object({
    sha: revisionParameter,
    path: revisionParameter,
    not: revisionParameter,
    since: parameter,
    until: parameter,
    ...partParameters,
    ...pageParameters,
  }),
  answers: { 200: z.array(commitSchema), 404: errorSchema, 409: errorSchema, 422: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return pagedAnswer(context, url, await listCommits(context, caller, params, query));
  },
});

/** `GET /repos/{owner}/{repo}/commits/{sha}/pull` */
export const pull = endpoint({
  summary: 'The pull request whose merge made a commit',
  access: 'reader',
  area: 'repository',
  params: commitPath,
  answers: { 200: singlePullSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    return { status: 200, body: await showMergedPull(context, caller, params) };
  },
});

/** `GET /repos/{owner}/{repo}/git/commits/{sha}` */
export const show = endpoint({
  summary: 'A commit; as a diff or patch when `Accept` asks for one',
  access: 'reader',
  area: 'repository',
  params: commitPath,
  query: z.object(partParameters),
  answers: { 200: commitSchema, 404: errorSchema },
  async handle({ params, query, caller, accept }, context) {
    const format = readMediaType(accept);
    if (format === 'diff' || format === 'patch')
      return { status: 200, body: await showCommitChanges(context, caller, params, format) };
    return { status: 200, body: await showCommit(context, caller, params, readParts(query)) };
  },
});

/** `GET /repos/{owner}/{repo}/git/commits/{sha}.{diffType}` */
export const changes = endpoint({
  summary: 'What a commit changed, as a diff or as a patch',
  access: 'reader',
  area: 'repository',
  params: commitPath.extend({ diffType: z.enum(['diff', 'patch']) }),
  answers: { 200: z.string(), 404: errorSchema },
  async handle({ params: { diffType, ...path }, caller }, context) {
    return { status: 200, body: await showCommitChanges(context, caller, path, diffType) };
  },
});

/** `GET /repos/{owner}/{repo}/compare/{basehead}` */
export const compare = endpoint({
  summary: 'Commits that one branch, tag or commit has and another has not; as text with `output`',
  access: 'reader',
  area: 'repository',
  params: repositoryPath.extend({ '*': z.string() }),
  query: z.object({ output: parameter, ...partParameters, ...pageParameters }),
  answers: {
    200: z.object({ total_commits: z.int(), commits: z.array(commitSchema) }),
    404: errorSchema,
    422: errorSchema,
  },
  async handle({ params: { '*': basehead, ...at }, query, caller, accept, url }, context) {
    const path = { ...at, basehead };
    const format = query.output ?? readMediaType(accept);
    if (format === 'diff' || format === 'patch')
      return { status: 200, body: await showComparison(context, caller, path, format) };
    const found = await compareCommits(context, caller, path, query);
    // Whoever knows no pages here learns from the headers that there are more.
    return {
      ...pagedAnswer(context, url, found),
      body: { total_commits: found.total, commits: found.items },
    };
  },
});
