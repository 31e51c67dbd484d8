import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import {
  emptySchema,
  errorSchema,
  numberedPath,
  optional,
  pageParameters,
  repositoryPath,
} from '../wire-schemas.ts';
import { requestReviews, withdrawRequests } from './change-requests.ts';
import { createReview } from './create-review.ts';
import { deleteReview } from './delete-review.ts';
import { dismissReview } from './dismiss-review.ts';
import { findReview, type ReviewPath } from './find-review.ts';
import { listReviewComments, listReviews } from './list-reviews.ts';
import { replyToComment } from './reply-to-comment.ts';
import { resolveComment } from './resolve-comment.ts';
import { reviewCommentSchema } from './review-comment-json.ts';
import { presentReviews, reviewSchema } from './review-json.ts';
import { submitReview } from './submit-review.ts';

const reviewPath = numberedPath.extend({ id: z.string() });
const refused = { 403: errorSchema, 404: errorSchema, 422: errorSchema, 423: errorSchema };
const wantedComment = z.object({
  path: optional.text,
  body: optional.text,
  old_position: optional.integer,
  new_position: optional.integer,
});
const reviewers = z.object({ reviewers: optional.texts, team_reviewers: optional.texts });

/** `GET /repos/{owner}/{repo}/pulls/{index}/reviews` */
export const list = endpoint({
  summary: 'Reviews of a pull request and requests for some, oldest first',
  access: 'reader',
  area: 'repository',
  params: numberedPath,
  query: z.object(pageParameters),
  answers: { 200: z.array(reviewSchema), 404: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listReviews(context, caller, params, query));
  },
});

/** `POST /repos/{owner}/{repo}/pulls/{index}/reviews` */
export const create = endpoint({
  summary: 'Review a pull request, or begin to',
  access: 'caller',
  area: 'repository',
  params: numberedPath,
  body: z.object({
    event: optional.text.describe('`APPROVED`, `REQUEST_CHANGES`, `COMMENT`; else it is pending'),
    body: optional.text,
    commit_id: optional.text,
    comments: z.array(wantedComment).nullish(),
  }),
  answers: { 200: reviewSchema, ...refused },
  async handle({ params, body, caller }, context) {
    const id = await createReview(context, caller, params, {
      event: body.event ?? '',
      body: body.body ?? '',
      commitId: body.commit_id ?? '',
      comments: (body.comments ?? []).map((comment) => ({
        path: comment.path,
        body: comment.body,
        oldPosition: comment.old_position,
        newPosition: comment.new_position,
      })),
    });
    return await answerReview(context, caller, { ...params, id: String(id) });
  },
});

/** `GET /repos/{owner}/{repo}/pulls/{index}/reviews/{id}` */
export const show = endpoint({
  summary: 'A review',
  access: 'reader',
  area: 'repository',
  params: reviewPath,
  answers: { 200: reviewSchema, 404: errorSchema },
  handle: ({ params, caller }, context) => answerReview(context, caller, params),
});

/** `POST /repos/{owner}/{repo}/pulls/{index}/reviews/{id}` */
export const submit = endpoint({
  summary: 'Submit a pending review',
  access: 'caller',
  area: 'repository',
  params: reviewPath,
  body: z.object({ event: optional.text, body: optional.text }),
  answers: { 200: reviewSchema, ...refused },
  async handle({ params, body, caller }, context) {
    const wanted = { event: body.event ?? '', body: body.body || undefined };
    await submitReview(context, caller, params, wanted);
    return await answerReview(context, caller, params);
  },
});

/** `DELETE /repos/{owner}/{repo}/pulls/{index}/reviews/{id}` */
export const remove = endpoint({
  summary: 'Take a review back',
  access: 'caller',
  area: 'repository',
  params: reviewPath,
  answers: { 204: emptySchema, ...refused },
  async handle({ params, caller }, context) {
    await deleteReview(context, caller, params);
    return { status: 204 };
  },
});

/** `GET /repos/{owner}/{repo}/pulls/{index}/reviews/{id}/comments` */
export const listComments = endpoint({
  summary: 'Comments of a review',
  access: 'reader',
  area: 'repository',
  params: reviewPath,
  query: z.object(pageParameters),
  answers: { 200: z.array(reviewCommentSchema), 404: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listReviewComments(context, caller, params, query));
  },
});

/** `POST /repos/{owner}/{repo}/pulls/{index}/comments/{id}/replies` */
export const reply = endpoint({
  summary: 'Answer a comment on a line',
  access: 'caller',
  area: 'repository',
  params: reviewPath,
  body: z.object({ body: optional.text }),
  answers: { 201: reviewCommentSchema, 400: errorSchema, ...refused },
  async handle({ params, body, caller }, context) {
    const [written] = await replyToComment(context, caller, params, body.body ?? '');
    return { status: 201, body: written };
  },
});

const resolution = (summary: string, isSettled: boolean) =>
  endpoint({
    summary,
    access: 'caller',
    area: 'repository',
    params: repositoryPath.extend({ id: z.string() }),
    answers: { 204: emptySchema, 400: errorSchema, 403: errorSchema, 404: errorSchema, 423: errorSchema },
    async handle({ params, caller }, context) {
      await resolveComment(context, caller, params, isSettled);
      return { status: 204 };
    },
  });

/** `POST /repos/{owner}/{repo}/pulls/comments/{id}/resolve` */
export const resolve = resolution('Say that what a comment on a line is about is settled', true);

/** `POST /repos/{owner}/{repo}/pulls/comments/{id}/unresolve` */
export const unresolve = resolution('Say that it is not', false);

/** `POST /repos/{owner}/{repo}/pulls/{index}/reviews/{id}/dismissals` */
export const dismiss = endpoint({
  summary: 'Let a review count no more',
  access: 'caller',
  area: 'repository',
  params: reviewPath,
  body: z.object({ message: optional.text, priors: optional.boolean }),
  answers: { 200: reviewSchema, ...refused },
  async handle({ params, body, caller }, context) {
    const wanted = { message: body.message ?? '', priors: body.priors ?? false };
    await dismissReview(context, caller, params, { dismissed: true, ...wanted });
    return await answerReview(context, caller, params);
  },
});

/** `POST /repos/{owner}/{repo}/pulls/{index}/reviews/{id}/undismissals` */
export const undismiss = endpoint({
  summary: 'Let a dismissed review count again',
  access: 'caller',
  area: 'repository',
  params: reviewPath,
  answers: { 200: reviewSchema, ...refused },
  async handle({ params, caller }, context) {
    await dismissReview(context, caller, params, { dismissed: false, message: '', priors: false });
    return await answerReview(context, caller, params);
  },
});

/** `POST /repos/{owner}/{repo}/pulls/{index}/requested_reviewers` */
export const request = endpoint({
  summary: 'Ask people and teams for a review',
  access: 'caller',
  area: 'repository',
  params: numberedPath,
  body: reviewers,
  answers: { 201: z.array(reviewSchema), ...refused },
  async handle({ params, body, caller }, context) {
    return { status: 201, body: await requestReviews(context, caller, params, namedIn(body)) };
  },
});

/** `DELETE /repos/{owner}/{repo}/pulls/{index}/requested_reviewers` */
export const withdraw = endpoint({
  summary: 'Ask people and teams for no review any more',
  access: 'caller',
  area: 'repository',
  params: numberedPath,
  body: reviewers,
  answers: { 204: emptySchema, ...refused },
  async handle({ params, body, caller }, context) {
    await withdrawRequests(context, caller, params, namedIn(body));
    return { status: 204 };
  },
});

const namedIn = (body: z.output<typeof reviewers>) => ({
  reviewers: [...new Set((body.reviewers ?? []).map((name) => name.toLowerCase()))],
  teams: [...new Set((body.team_reviewers ?? []).map((name) => name.toLowerCase()))],
});

async function answerReview(context: Context, viewer: Caller | undefined, path: ReviewPath) {
  const found = await findReview(context, viewer, path);
  const [body] = await presentReviews(context, viewer, found, [found.review]);
  return { status: 200, body };
}
