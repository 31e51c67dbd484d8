import { z } from 'zod';
import { type Answer, endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import { userSchema } from '../users/user-json.ts';
import { emptySchema, errorSchema, numberedPath, pageParameters, timeSchema } from '../wire-schemas.ts';
import { wireTime } from '../wire-time.ts';
import { changeSubscription } from './change-subscription.ts';
import { listSubscribers, showSubscription } from './list-subscribers.ts';

const personPath = numberedPath.extend({ user: z.string() });
const answers = { 200: emptySchema, 201: emptySchema, 403: errorSchema, 404: errorSchema };

/** `GET /repos/{owner}/{repo}/issues/{index}/subscriptions` */
export const list = endpoint({
  summary: 'Who subscribed to an issue or pull request',
  access: 'reader',
  area: 'issue',
  params: numberedPath,
  query: z.object(pageParameters),
  answers: { 200: z.array(userSchema), 404: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listSubscribers(context, caller, params, query));
  },
});

/** `GET /repos/{owner}/{repo}/issues/{index}/subscriptions/check` */
export const check = endpoint({
  summary: 'Whether the caller hears of an issue or pull request',
  access: 'caller',
  area: 'issue',
  params: numberedPath,
  answers: {
    200: z.object({
      subscribed: z.boolean(),
      ignored: z.boolean(),
      reason: z.null(),
      created_at: timeSchema,
      url: z.string(),
      repository_url: z.string(),
    }),
    404: errorSchema,
  },
  async handle({ params, caller }, context) {
    const { subscribed, issue, address } = await showSubscription(context, caller, params);
    const body = {
      subscribed,
      ignored: !subscribed,
      reason: null,
      created_at: wireTime(issue.created_at),
      url: `${address}/issues/${issue.number}/subscriptions`,
      repository_url: address,
    };
    return { status: 200, body };
  },
});

/** `PUT /repos/{owner}/{repo}/issues/{index}/subscriptions/{user}` */
export const subscribe = endpoint({
  summary: 'Subscribe to an issue or pull request: 201, and 200 for who hears of it already',
  access: 'caller',
  area: 'issue',
  params: personPath,
  answers,
  handle: async ({ params, caller }, context) =>
    said(await changeSubscription(context, caller, params, true)),
});

/** `DELETE /repos/{owner}/{repo}/issues/{index}/subscriptions/{user}` */
export const unsubscribe = endpoint({
  summary: 'Hear no more of an issue or pull request: 201, and 200 for who does not anyway',
  access: 'caller',
  area: 'issue',
  params: personPath,
  answers,
  handle: async ({ params, caller }, context) =>
    said(await changeSubscription(context, caller, params, false)),
});

const said = (isNews: boolean): Answer => ({ status: isNews ? 201 : 200 });
