import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { type Answer, endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import {
  emptySchema,
  errorSchema,
  numberedPath,
  pageParameters,
  parameter,
  repositoryPath,
} from '../wire-schemas.ts';
import { commentSchema } from './comment-json.ts';
import { createComment } from './create-comment.ts';
import { deleteComment } from './delete-comment.ts';
import { editComment } from './edit-comment.ts';
import { findComment, type VisibleComment } from './find-comment.ts';
import { listComments, listRepositoryComments } from './list-comments.ts';
import { presentComments } from './present-comments.ts';
import { showTimeline } from './show-timeline.ts';
import { timelineSchema } from './timeline-json.ts';

const commentPath = repositoryPath.extend({ id: z.string() });
const range = z.object({ since: parameter, before: parameter, ...pageParameters });
/** Text with something in it; kept as it is, for spaces at the start of a line mean something. */
const commentBody = z.object({
  body: z
    .string()
    .regex(/^[^\0]*$/, 'NUL is not allowed')
    .refine((text) => text.trim() !== '', 'Required'),
});

/** `GET /repos/{owner}/{repo}/issues/{index}/comments` */
export const list = endpoint({
  summary: 'Comments on an issue or pull request, oldest first',
  access: 'reader',
  area: 'issue',
  params: numberedPath,
  query: range,
  answers: { 200: z.array(commentSchema), 404: errorSchema, 422: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listComments(context, caller, params, query));
  },
});

/** `GET /repos/{owner}/{repo}/issues/comments` */
export const listAll = endpoint({
  summary: 'Comments on all issues and pull requests of a repository, oldest first',
  access: 'reader',
  area: 'issue',
  params: repositoryPath,
  query: range,
  answers: { 200: z.array(commentSchema), 404: errorSchema, 422: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listRepositoryComments(context, caller, params, query));
  },
});

/** `GET /repos/{owner}/{repo}/issues/comments/{id}` */
export const show = endpoint({
  summary: 'A comment; nothing for an entry of another kind',
  access: 'reader',
  area: 'issue',
  params: commentPath,
  answers: { 200: commentSchema, 204: emptySchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    const found = await findComment(context, caller, params);
    return found.comment.kind === 'comment'
      ? await answerComment(context, caller, found, 200)
      : { status: 204 };
  },
});

/** `POST /repos/{owner}/{repo}/issues/{index}/comments` */
export const create = endpoint({
  summary: 'Write a comment',
  access: 'caller',
  area: 'issue',
  params: numberedPath,
  body: commentBody,
  answers: { 201: commentSchema, 403: errorSchema, 404: errorSchema, 422: errorSchema, 423: errorSchema },
  async handle({ params, body, caller }, context) {
    const id = await createComment(context, caller, params, body.body);
    const found = await findComment(context, caller, { ...params, id: String(id) });
    return await answerComment(context, caller, found, 201);
  },
});

/** `PATCH /repos/{owner}/{repo}/issues/comments/{id}` */
export const edit = endpoint({
  summary: 'Change a comment, a review or what it says of a line; nothing for an entry of another kind',
  access: 'caller',
  area: 'issue',
  params: commentPath,
  body: commentBody,
  answers: {
    200: commentSchema,
    204: emptySchema,
    403: errorSchema,
    404: errorSchema,
    422: errorSchema,
    423: errorSchema,
  },
  async handle({ params, body, caller }, context) {
    if (!(await editComment(context, caller, params, body.body))) return { status: 204 };
    return await answerComment(context, caller, await findComment(context, caller, params), 200);
  },
});

/** `DELETE /repos/{owner}/{repo}/issues/comments/{id}` */
export const remove = endpoint({
  summary: 'Delete a comment; nothing for an entry of another kind',
  access: 'caller',
  area: 'issue',
  params: commentPath,
  answers: { 204: emptySchema, 403: errorSchema, 404: errorSchema, 423: errorSchema },
  async handle({ params, caller }, context) {
    await deleteComment(context, caller, params);
    return { status: 204 };
  },
});

/** `GET /repos/{owner}/{repo}/issues/{index}/timeline` */
export const timeline = endpoint({
  summary: 'Everything that happened to an issue or pull request, oldest first',
  access: 'reader',
  area: 'issue',
  params: numberedPath,
  query: range,
  answers: { 200: z.array(timelineSchema), 404: errorSchema, 422: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await showTimeline(context, caller, params, query));
  },
});

async function answerComment(
  context: Context,
  viewer: Caller | undefined,
  found: VisibleComment,
  status: number,
): Promise<Answer> {
  return { status, body: (await presentComments(context, viewer, found, [found.comment]))[0] };
}
