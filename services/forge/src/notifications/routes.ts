import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import { errorSchema, pageParameters, parameter, repositoryPath } from '../wire-schemas.ts';
import { findThread } from './find-thread.ts';
import { countThreads, listThreads } from './list-threads.ts';
import { markThread, markThreads } from './mark-threads.ts';
import { presentThreads } from './present-threads.ts';
import { threadSchema } from './thread-json.ts';

/** A parameter that may be given several times; values with NUL name nothing. */
const several = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((value) => (value === undefined ? [] : [value].flat()).filter((one) => !one.includes('\0')));

const listQuery = z.object({
  all: parameter,
  'status-types': several,
  'subject-type': several,
  since: parameter,
  before: parameter,
  ...pageParameters,
});
const markQuery = z.object({
  all: parameter,
  'status-types': several,
  'to-status': parameter,
  last_read_at: parameter,
});
/** The same may come in the body. */
const markBody = z.object({ last_read_at: z.string().nullish() });
const about = { access: 'caller', area: 'notification' } as const;

/** `GET /notifications` */
export const list = endpoint({
  ...about,
  summary: 'Notification threads of the caller, the latest first',
  query: listQuery,
  answers: { 200: z.array(threadSchema), 422: errorSchema },
  async handle({ query, caller, url }, context) {
    return listAnswer(context, url, await listThreads(context, caller, undefined, query));
  },
});

/** `GET /repos/{owner}/{repo}/notifications` */
export const listOfRepository = endpoint({
  ...about,
  summary: 'Notification threads of the caller in a repository, the latest first',
  params: repositoryPath,
  query: listQuery,
  answers: { 200: z.array(threadSchema), 404: errorSchema, 422: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listThreads(context, caller, params, query));
  },
});

/** `PUT /notifications` */
export const mark = endpoint({
  ...about,
  summary: 'Mark notification threads of the caller, as read when nothing else is said',
  query: markQuery,
  body: markBody,
  answers: { 205: z.array(threadSchema), 422: errorSchema },
  async handle({ query, body, caller }, context) {
    const marks = { ...query, last_read_at: query.last_read_at ?? body.last_read_at ?? undefined };
    return { status: 205, body: await markThreads(context, caller, undefined, marks) };
  },
});

/** `PUT /repos/{owner}/{repo}/notifications` */
export const markOfRepository = endpoint({
  ...about,
  summary: 'Mark notification threads of the caller in a repository',
  params: repositoryPath,
  query: markQuery,
  body: markBody,
  answers: { 205: z.array(threadSchema), 404: errorSchema, 422: errorSchema },
  async handle({ params, query, body, caller }, context) {
    const marks = { ...query, last_read_at: query.last_read_at ?? body.last_read_at ?? undefined };
    return { status: 205, body: await markThreads(context, caller, params, marks) };
  },
});

/** `GET /notifications/new` */
export const countNew = endpoint({
  ...about,
  summary: 'How many notification threads the caller has not read',
  answers: { 200: z.object({ new: z.int() }) },
  async handle({ caller }, context) {
    return { status: 200, body: { new: await countThreads(context, caller, 'unread') } };
  },
});

const threadPath = z.object({ id: z.string() });

/** `GET /notifications/threads/{id}` */
export const show = endpoint({
  ...about,
  summary: 'A notification thread of the caller',
  params: threadPath,
  answers: { 200: threadSchema, 400: errorSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    const row = await findThread(context, caller, params.id);
    return { status: 200, body: (await presentThreads(context, caller, [row]))[0] };
  },
});

/** `PATCH /notifications/threads/{id}` */
export const markOne = endpoint({
  ...about,
  summary: 'Mark a notification thread of the caller, as read when nothing else is said',
  params: threadPath,
  query: z.object({ 'to-status': parameter }),
  answers: { 205: threadSchema, 400: errorSchema, 404: errorSchema, 422: errorSchema },
  async handle({ params, query, caller }, context) {
    return { status: 205, body: await markThread(context, caller, params.id, query['to-status']) };
  },
});
