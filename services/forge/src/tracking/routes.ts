import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { endpoint } from '../endpoint.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { listAnswer } from '../list-answer.ts';
import { readBodyTime } from '../rules/requests/read-time.ts';
import {
  emptySchema,
  errorSchema,
  numberedPath,
  optional,
  pageParameters,
  parameter,
  repositoryPath,
} from '../wire-schemas.ts';
import { addTime, deleteTime, resetTimes } from './change-times.ts';
import { listIssueTimes, listOwnTimes, listRepositoryTimes, presentTimes } from './list-times.ts';
import { cancelStopwatch, listStopwatches, startStopwatch, stopStopwatch } from './stopwatch.ts';
import { stopwatchSchema, trackedTimeSchema } from './tracking-json.ts';

const range = { since: parameter, before: parameter, ...pageParameters };
const listAnswers = {
  200: z.array(trackedTimeSchema),
  403: errorSchema,
  404: errorSchema,
  422: errorSchema,
};
const repositoryListAnswers = { ...listAnswers, 400: errorSchema };
const changeAnswers = {
  204: emptySchema,
  400: errorSchema,
  403: errorSchema,
  404: errorSchema,
  423: errorSchema,
};

/** `GET /repos/{owner}/{repo}/issues/{index}/times` */
export const list = endpoint({
  summary: 'Time spent on an issue or pull request',
  access: 'caller',
  area: 'issue',
  params: numberedPath,
  query: z.object({ user: parameter, ...range }),
  answers: listAnswers,
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listIssueTimes(context, caller, params, query));
  },
});

/** `POST /repos/{owner}/{repo}/issues/{index}/times` */
export const add = endpoint({
  summary: 'Note time spent on an issue or pull request',
  access: 'caller',
  area: 'issue',
  params: numberedPath,
  body: z.object({ time: z.int(), created: optional.time, user_name: optional.text }),
  answers: {
    200: trackedTimeSchema,
    400: errorSchema,
    403: errorSchema,
    404: errorSchema,
    422: errorSchema,
    423: errorSchema,
  },
  async handle({ params, body, caller }, context) {
    const at = readBodyTime(body.created);
    const spent = { seconds: body.time, at, userName: body.user_name ?? '' };
    const row = await addTime(context, caller, params, spent);
    return { status: 200, body: (await presentTimes(context, caller, [row]))[0] };
  },
});

/** `DELETE /repos/{owner}/{repo}/issues/{index}/times` */
export const reset = endpoint({
  summary: 'Forget the time the caller spent on an issue or pull request',
  access: 'caller',
  area: 'issue',
  params: numberedPath,
  answers: changeAnswers,
  async handle({ params, caller }, context) {
    await resetTimes(context, caller, params);
    return { status: 204 };
  },
});

/** `DELETE /repos/{owner}/{repo}/issues/{index}/times/{id}` */
export const remove = endpoint({
  summary: 'Forget a time',
  access: 'caller',
  area: 'issue',
  params: numberedPath.extend({ id: z.string() }),
  answers: changeAnswers,
  async handle({ params, caller }, context) {
    await deleteTime(context, caller, params);
    return { status: 204 };
  },
});

/** `GET /repos/{owner}/{repo}/times` */
export const listInRepository = endpoint({
  summary: 'Time spent on the issues and pull requests of a repository',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  query: z.object({ user: parameter, ...range }),
  answers: repositoryListAnswers,
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listRepositoryTimes(context, caller, params, query));
  },
});

/** `GET /repos/{owner}/{repo}/times/{user}` */
export const listOfUser = endpoint({
  summary: 'Time somebody spent on the issues and pull requests of a repository',
  access: 'caller',
  area: 'repository',
  params: repositoryPath.extend({ user: z.string() }),
  query: z.object(range),
  answers: repositoryListAnswers,
  async handle({ params, query, caller, url }, context) {
    const asked = { ...query, user: params.user };
    return listAnswer(context, url, await listRepositoryTimes(context, caller, params, asked, true));
  },
});

/** `GET /user/times` */
export const listOwn = endpoint({
  summary: 'Time the caller spent',
  access: 'caller',
  area: 'user',
  query: z.object(range),
  answers: { 200: z.array(trackedTimeSchema), 422: errorSchema },
  async handle({ query, caller, url }, context) {
    return listAnswer(context, url, await listOwnTimes(context, caller, query));
  },
});

/** `GET /user/stopwatches` */
export const ownStopwatches = endpoint({
  summary: 'Stopwatches of the caller that run',
  access: 'caller',
  area: 'user',
  query: z.object(pageParameters),
  answers: { 200: z.array(stopwatchSchema) },
  async handle({ query, caller, url }, context) {
    return listAnswer(context, url, await listStopwatches(context, caller, query));
  },
});

/** `POST /repos/{owner}/{repo}/issues/{index}/stopwatch/start` */
export const start = stopwatchEndpoint('Start a stopwatch', 201, startStopwatch);

/** `POST /repos/{owner}/{repo}/issues/{index}/stopwatch/stop` */
export const stop = stopwatchEndpoint('Stop a stopwatch and note the time', 201, stopStopwatch);

/** `DELETE /repos/{owner}/{repo}/issues/{index}/stopwatch/delete` */
export const cancel = stopwatchEndpoint('Throw a stopwatch away', 204, cancelStopwatch);

function stopwatchEndpoint(
  summary: string,
  status: 201 | 204,
  operation: (context: Context, caller: Caller, path: NumberedPath) => Promise<void>,
) {
  return endpoint({
    summary,
    access: 'caller',
    area: 'issue',
    params: numberedPath,
    answers: {
      [status]: emptySchema,
      403: errorSchema,
      404: errorSchema,
      409: errorSchema,
      423: errorSchema,
    },
    async handle({ params, caller }, context) {
      await operation(context, caller, params);
      return { status };
    },
  });
}
