import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { emptySchema, errorSchema, numberedPath, optional, repositoryPath } from '../wire-schemas.ts';
import { attachmentJson, attachmentSchema } from './attachment-json.ts';
import { deleteAttachment, findAttachment, listAttachments, renameAttachment } from './change-attachment.ts';

const commentPath = repositoryPath.extend({ id: z.string() });
const releasePath = repositoryPath.extend({ release: z.string() });
const refusals = { 403: errorSchema, 404: errorSchema, 423: errorSchema };

/** What can be done with the files of what a path names, besides sending them: that is in upload-routes.ts. */
function operations(
  subject: string,
  area: 'issue' | 'repository',
  path: typeof numberedPath | typeof commentPath | typeof releasePath,
) {
  const params = path.extend({ attachment: z.string() }) as typeof path &
    z.ZodObject<{ attachment: z.ZodString }>;
  return {
    list: endpoint({
      summary: `Files of ${subject}`,
      access: 'reader',
      area,
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
      area,
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
      area,
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
      area,
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
export const ofIssues = operations('an issue or pull request', 'issue', numberedPath);

/** `/repos/{owner}/{repo}/issues/comments/{id}/assets` */
export const ofComments = operations('a comment', 'issue', commentPath);

/** `/repos/{owner}/{repo}/releases/{release}/assets` */
export const ofReleases = operations('a release', 'repository', releasePath);
