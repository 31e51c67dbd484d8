import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { emptySchema, errorSchema, numberedPath, optional } from '../wire-schemas.ts';
import { lockIssue, unlockIssue } from './lock-issue.ts';

const answers = { 204: emptySchema, 403: errorSchema, 404: errorSchema, 422: errorSchema, 423: errorSchema };

/** `PUT /repos/{owner}/{repo}/issues/{index}/lock` */
export const lock = endpoint({
  summary: 'Lock a conversation: only writers go on',
  access: 'caller',
  area: 'issue',
  params: numberedPath,
  body: z.object({ lock_reason: optional.text }),
  answers,
  async handle({ params, body, caller }, context) {
    await lockIssue(context, caller, params, body.lock_reason ?? '');
    return { status: 204 };
  },
});

/** `DELETE /repos/{owner}/{repo}/issues/{index}/lock` */
export const unlock = endpoint({
  summary: 'Open a conversation again',
  access: 'caller',
  area: 'issue',
  params: numberedPath,
  answers,
  async handle({ params, caller }, context) {
    await unlockIssue(context, caller, params);
    return { status: 204 };
  },
});
