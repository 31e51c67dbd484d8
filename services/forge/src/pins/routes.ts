import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { issueSchema } from '../issues/issue-json.ts';
import { pullSchema } from '../pulls/pull-json.ts';
import { emptySchema, errorSchema, numberedPath, repositoryPath } from '../wire-schemas.ts';
import { moveIssuePin, pinIssue, unpinIssue } from './change-pins.ts';
import { listPinnedIssues, listPinnedPulls, showPinRoom } from './list-pinned.ts';

const answers = { 204: emptySchema, 403: errorSchema, 404: errorSchema, 423: errorSchema };

/** `POST /repos/{owner}/{repo}/issues/{index}/pin` */
export const pin = endpoint({
  summary: 'Pin an issue or pull request',
  access: 'caller',
  area: 'issue',
  params: numberedPath,
  answers,
  async handle({ params, caller }, context) {
    await pinIssue(context, caller, params);
    return { status: 204 };
  },
});

/** `DELETE /repos/{owner}/{repo}/issues/{index}/pin` */
export const unpin = endpoint({
  summary: 'Take the pin of an issue or pull request away',
  access: 'caller',
  area: 'issue',
  params: numberedPath,
  answers,
  async handle({ params, caller }, context) {
    await unpinIssue(context, caller, params);
    return { status: 204 };
  },
});

/** `PATCH /repos/{owner}/{repo}/issues/{index}/pin/{position}` */
export const move = endpoint({
  summary: 'Give a pinned issue or pull request another place, from 1',
  access: 'caller',
  area: 'issue',
  params: numberedPath.extend({ position: z.string() }),
  answers: { ...answers, 422: errorSchema },
  async handle({ params, caller }, context) {
    await moveIssuePin(context, caller, params);
    return { status: 204 };
  },
});

/** `GET /repos/{owner}/{repo}/issues/pinned` */
export const issues = endpoint({
  summary: 'Pinned issues',
  access: 'reader',
  area: 'issue',
  params: repositoryPath,
  answers: { 200: z.array(issueSchema), 404: errorSchema },
  handle: async ({ params, caller }, context) => ({
    status: 200,
    body: await listPinnedIssues(context, caller, params),
  }),
});

/** `GET /repos/{owner}/{repo}/pulls/pinned` */
export const pulls = endpoint({
  summary: 'Pinned pull requests',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  answers: { 200: z.array(pullSchema), 404: errorSchema },
  handle: async ({ params, caller }, context) => ({
    status: 200,
    body: await listPinnedPulls(context, caller, params),
  }),
});

/** `GET /repos/{owner}/{repo}/new_pin_allowed` */
export const room = endpoint({
  summary: 'Whether another issue or pull request can be pinned',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  answers: { 200: z.object({ issues: z.boolean(), pull_requests: z.boolean() }), 404: errorSchema },
  handle: async ({ params, caller }, context) => ({
    status: 200,
    body: await showPinRoom(context, caller, params),
  }),
});
