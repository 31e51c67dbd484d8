import type { IncomingMessage } from 'node:http';
import type { App } from '@croft/http';
import multipart from '@fastify/multipart';
import { z } from 'zod';
import { admit } from '../admit.ts';
import { apiCredentialsOf } from '../caller/api-credentials.ts';
import type { Caller } from '../caller/caller.ts';
import type { CommentPath } from '../comments/find-comment.ts';
import type { Context } from '../context.ts';
import { badRequest, tokenRequired } from '../failures.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { API_PREFIX } from '../links.ts';
import { attachmentName } from '../rules/files/attachment-name.ts';
import { errorSchema, parameter } from '../wire-schemas.ts';
import { attachmentJson, attachmentSchema } from './attachment-json.ts';
import { findDownload } from './find-download.ts';
import { findSubjectToWrite } from './find-subject-to-write.ts';
import { storeAttachment } from './store-attachment.ts';

/** Nobody sends a file for longer. */
const UPLOAD_MS = 10 * 60_000;
/** A client that was refused may send the rest for so long. */
const LET_GO_MS = 10_000;
/** What a form may carry besides the one file. */
const LIMITS = { files: 1, fields: 10, parts: 12, fieldSize: 1024, fieldNameSize: 100, headerPairs: 20 };
const SUBJECTS = [
  '/repos/:owner/:repo/issues/:index/assets',
  '/repos/:owner/:repo/issues/comments/:id/assets',
];

/**
 * Files come as forms and go as they came; both are streams that nothing keeps in memory. What somebody sent is never
 * shown by a browser as part of this site: it is saved, and would run nowhere if it were shown.
 */
export async function attachmentRoutes(app: App, context: Context): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    await scope.register(multipart, { throwFileSizeLimit: false });
    const callers = new WeakMap<object, Caller>();

    for (const path of SUBJECTS) {
      scope.route({
        method: 'POST',
        url: `${API_PREFIX}${path}`,
        config: { timeoutMs: UPLOAD_MS },
        schema: {
          summary: 'Attach a file, the part `attachment` of a form',
          tags: ['issue'],
          security: [{ bearer: [] }],
          consumes: ['multipart/form-data'],
          querystring: z.object({ name: parameter }),
          response: {
            201: attachmentSchema,
            400: errorSchema,
            403: errorSchema,
            404: errorSchema,
            413: errorSchema,
            422: errorSchema,
            423: errorSchema,
          },
        },
        async onRequest(request) {
          const needs = { access: 'caller', area: 'issue', intent: 'write' } as const;
          const caller = await admit(context, needs, apiCredentialsOf(context, request));
          if (caller === undefined) throw tokenRequired();
          callers.set(request, caller);
        },
        async handler(request, reply) {
          const caller = callers.get(request);
          if (caller === undefined) throw tokenRequired();
          // Before anything of the file is read.
          const subject = await findSubjectToWrite(
            context,
            caller,
            request.params as NumberedPath | CommentPath,
          );
          if (!request.isMultipart()) throw badRequest('a form (multipart/form-data) is expected');
          const fileSize = context.settings.ATTACHMENT_MAX_BYTES + 1;
          const part = await request.file({ limits: { ...LIMITS, fileSize } }).catch(toBadRequest);
          if (part === undefined || part.fieldname !== 'attachment') {
            letGo(request.raw);
            throw badRequest('the form has no file with the name `attachment`');
          }
          const { file } = part;
          const row = await storeAttachment(context, caller, subject, {
            name: (request.query as { name?: string }).name || part.filename,
            content: file,
            abandoned: request.abandoned,
          })
            .catch((error) => {
              throw error === file.errored ? toBadRequest(error) : error;
            })
            .finally(() => letGo(request.raw));
          return await reply.code(201).send(attachmentJson(row, context.links));
        },
      });
    }

    scope.get(
      '/attachments/:uuid',
      { schema: { hide: true }, config: { timeoutMs: 0 } },
      async (request, reply) => {
        const needs = { access: 'reader', area: 'issue', intent: 'read' } as const;
        const caller = await admit(context, needs, apiCredentialsOf(context, request));
        const { row, file } = await findDownload(context, caller, (request.params as { uuid: string }).uuid);
        return await reply
          .headers({
            'content-disposition': `attachment; ${attachmentName(row.name)}`,
            'content-length': String(row.size_bytes),
            'x-content-type-options': 'nosniff',
            'content-security-policy': "default-src 'none'; sandbox",
            'cache-control': 'private, no-cache',
          })
          .type('application/octet-stream')
          .send(file.createReadStream());
      },
    );
  });
}

/** Takes the rest of what is sent from the socket, for a moment: a client that is cut off in between sees no answer. */
function letGo(request: IncomingMessage): void {
  request.unpipe();
  request.resume();
  if (request.readableEnded) return;
  const timer = setTimeout(() => request.destroy(), LET_GO_MS);
  request.once('close', () => clearTimeout(timer));
}

/** What is no form, or a form with more than anybody needs. */
function toBadRequest(error: unknown): never {
  const { code, message } = error as { code?: unknown; message?: unknown };
  const isForm = typeof code === 'string' && code.startsWith('FST_');
  throw isForm || code === undefined ? badRequest(`the form cannot be read: ${String(message)}`) : error;
}
