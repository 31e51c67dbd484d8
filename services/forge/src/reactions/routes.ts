import { z } from 'zod';
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
import { listReactions } from './list-reactions.ts';
import { addReaction, removeReaction } from './react.ts';
import { reactionJson, reactionSchema } from './reaction-json.ts';

const body = z.object({ content: optional.text });
const refusals = { 403: errorSchema, 404: errorSchema, 423: errorSchema };

/** The three operations on what a path names. */
function operations(subject: string, params: typeof numberedPath | typeof commentPath) {
  return {
    list: endpoint({
      summary: `Reactions to ${subject}`,
      access: 'reader',
      area: 'issue',
      params,
      query: z.object(pageParameters),
      answers: { 200: z.array(reactionSchema), 404: errorSchema },
      async handle({ params: path, query, caller, url }, context) {
        return listAnswer(context, url, await listReactions(context, caller, path, query));
      },
    }),
    add: endpoint({
      summary: `React to ${subject}`,
      access: 'caller',
      area: 'issue',
      params,
      body,
      answers: { 200: reactionSchema, 201: reactionSchema, ...refusals },
      async handle({ params: path, body: { content }, caller }, context) {
        const { row, isNew } = await addReaction(context, caller, path, content ?? '');
        return { status: isNew ? 201 : 200, body: reactionJson(row, caller.user, caller, context.links) };
      },
    }),
    remove: endpoint({
      summary: `Take a reaction to ${subject} back`,
      access: 'caller',
      area: 'issue',
      params,
      body,
      answers: { 204: emptySchema, ...refusals },
      async handle({ params: path, body: { content }, caller }, context) {
        await removeReaction(context, caller, path, content ?? '');
        return { status: 204 };
      },
    }),
  };
}

const commentPath = repositoryPath.extend({ id: z.string() });

/** `/repos/{owner}/{repo}/issues/{index}/reactions` */
export const toIssues = operations('an issue or pull request', numberedPath);

/** `/repos/{owner}/{repo}/issues/comments/{id}/reactions` */
export const toComments = operations('a comment', commentPath);
