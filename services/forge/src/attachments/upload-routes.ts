import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { App, Request } from '@croft/http';
import multipart from '@fastify/multipart';
import { z } from 'zod';
import { admit } from '../admit.ts';
import { apiCredentialsOf } from '../caller/api-credentials.ts';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { badRequest, tokenRequired } from '../failures.ts';
import { API_PREFIX } from '../links.ts';
import { errorSchema, parameter } from '../wire-schemas.ts';
import { attachmentJson, attachmentSchema } from './attachment-json.ts';
import { findHolderToWrite, type HolderPath, limitsOf } from './find-holder.ts';
import { type SentFile, storeAttachment } from './store-attachment.ts';

/** A client that was refused may send the rest for so long. */
const LET_GO_MS = 10_000;
/** What a form may carry besides the one file. */
const LIMITS = { files: 1, fields: 10, parts: 12, fieldSize: 1024, fieldNameSize: 100, headerPairs: 20 };
const MINUTE_MS = 60_000;
const FORM = 'multipart/form-data';
const ofTalk = { area: 'issue', timeoutMs: 10 * MINUTE_MS, takesBare: false } as const;
/** What files are sent to, for how long one may take, and how they come: those of releases are large, and come bare as well. */
const HOLDERS = [
  { path: '/repos/:owner/:repo/issues/:index/assets', ...ofTalk },
  { path: '/repos/:owner/:repo/issues/comments/:id/assets', ...ofTalk },
  {
    path: '/repos/:owner/:repo/releases/:release/assets',
    area: 'repository',
    timeoutMs: 60 * MINUTE_MS,
    takesBare: true,
  },
] as const;

/** Files come as forms, or as nothing but their bytes: streams that nothing keeps in memory. */
export async function uploadRoutes(app: App, context: Context): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    await scope.register(multipart, { throwFileSizeLimit: false });
    // What is no form is read where a file is expected, and refused elsewhere.
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    const callers = new WeakMap<object, Caller>();

    for (const { path, area, timeoutMs, takesBare } of HOLDERS) {
      scope.route({
        method: 'POST',
        url: `${API_PREFIX}${path}`,
        config: { timeoutMs },
        schema: {
          summary: 'Attach a file, the part `attachment` of a form',
          tags: [area],
          security: [{ bearer: [] }],
          consumes: takesBare ? [FORM, 'application/octet-stream'] : [FORM],
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
          const needs = { access: 'caller', area, intent: 'write' } as const;
          const caller = await admit(context, needs, apiCredentialsOf(context, request));
          if (caller === undefined) throw tokenRequired();
          callers.set(request, caller);
        },
        async handler(request, reply) {
          const caller = callers.get(request);
          if (caller === undefined) throw tokenRequired();
          // Before anything of the file is read.
          const holder = await findHolderToWrite(context, caller, request.params as HolderPath);
          try {
            const { bytes } = limitsOf(context.settings, holder.place);
            const isBare = takesBare && !request.isMultipart();
            const sent = isBare ? bareFile(request) : await fileOfForm(request, bytes + 1);
            const row = await storeAttachment(context, caller, holder, sent).catch((error) => {
              throw error === sent.content.errored ? toBadRequest(error) : error;
            });
            return await reply.code(201).send(attachmentJson(row, context.links));
          } finally {
            letGo(request.raw);
          }
        },
      });
    }
  });
}

/** The one file of a form. */
async function fileOfForm(request: Request, fileSize: number): Promise<SentFile> {
  if (!request.isMultipart()) throw badRequest(`a form (${FORM}) is expected`);
  const part = await request.file({ limits: { ...LIMITS, fileSize } }).catch(toBadRequest);
  if (part === undefined || part.fieldname !== 'attachment')
    throw badRequest('the form has no file with the name `attachment`');
  return { name: nameIn(request) || part.filename, content: part.file, abandoned: request.abandoned };
}

/** A body that is the file. */
function bareFile(request: Request): SentFile {
  const name = nameIn(request);
  if (!name) throw badRequest('the query parameter `name` must say what the file is called');
  if (!(request.body instanceof Readable)) throw badRequest('there is no file in the request');
  return { name, content: request.body, abandoned: request.abandoned };
}

const nameIn = ({ query }: Request) => (query as { name?: string | undefined }).name;

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
