import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { emptySchema, errorSchema, numberedPath, optional, repositoryPath } from '../wire-schemas.ts';
import { attachmentJson, attachmentSchema } from './attachment-json.ts';
import { deleteAttachment, findAttachment, listAttachments, renameAttachment } from './change-attachment.ts';

const commentPath = repositoryPath.extend({ id: z.string() });
const refusals = { 403: errorSchema, 404: errorSchema, 423: errorSchema };

/** What can be done with the files of what a path names, besides sending them: that is in upload-routes.ts. */
function operations(subject: string, path: typeof numberedPath | typeof commentPath) {
  const params = path.extend({ attachment: z.string() }) as typeof path &
    z.ZodObject<{ attachment: z.ZodString }>;
  return {
    list: endpoint({
      summary: `Files of ${subject}`,
      access: 'reader',
      area: 'issue',
      params: path,
      answers: { 200: z.array(attachmentSchema), 404: errorSchema },
      async handle({ params: named, caller }, context) {
        const rows = await listAttachments(context, caller, named);
        return { status: 200, body: rows.map((row) => attachmentJson(row, context.links)) };
      },
    }),
    show: endpoint({
      summary: `A file of ${subject}`,
      access: 'reader',
      area: 'issue',
      params,
      answers: { 200: attachmentSchema, 404: errorSchema },
      async handle({ params: named, caller }, context) {
        const row = await findAttachment(context, caller, named);
        return { status: 200, body: attachmentJson(row, context.links) };
      },
    }),
    edit: endpoint({
      summary: `Rename a file of ${subject}`,
      access: 'caller',
      area: 'issue',
      params,
      body: z.object({ name: optional.text }),
      answers: { 201: attachmentSchema, ...refusals, 422: errorSchema },
      async handle({ params: named, body, caller }, context) {
        const row = await renameAttachment(context, caller, named, body.name ?? '');
        return { status: 201, body: attachmentJson(row, context.links) };
      },
    }),
    remove: endpoint({
      summary: `Remove a file of ${subject}`,
      access: 'caller',
      area: 'issue',
      params,
      answers: { 204: emptySchema, ...refusals },
      async handle({ params: named, caller }, context) {
        await deleteAttachment(context, caller, named);
        return { status: 204 };
      },
    }),
  };
}

/** `/repos/{owner}/{repo}/issues/{index}/assets` */
export const ofIssues = operations('an issue or pull request', numberedPath);

/** `/repos/{owner}/{repo}/issues/comments/{id}/assets` */
export const ofComments = operations('a comment', commentPath);
