import { Readable } from 'node:stream';
import type { App } from '@croft/http';
import { withShare } from '@croft/runtime';
import { admit } from './admit.ts';
import { answerOnce } from './answer-once.ts';
import { apiCredentialsOf } from './caller/api-credentials.ts';
import { type Caller, shareOf } from './caller/caller.ts';
import type { Context } from './context.ts';
import type { Endpoint } from './endpoint.ts';
import { answerUnchanged } from './entity-tags.ts';
import { API_PREFIX } from './links.ts';
import { explainRemoved } from './repositories/explain-removed.ts';
import { foldKeys } from './rules/requests/fold-keys.ts';

/** Methods the API uses. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Serves an endpoint: who calls, then the schemas, then its own code. */
export function mount(app: App, context: Context, method: Method, path: string, endpoint: Endpoint): void {
  const { access, area, params, query, body } = endpoint;
  const intent = method === 'GET' ? 'read' : 'write';
  const callers = new WeakMap<object, Caller | undefined>();
  const knownKeys = body === undefined ? undefined : Object.keys(body.shape);
  app.route({
    method,
    url: `${API_PREFIX}${path}`,
    ...(endpoint.tagged ? { onSend: answerUnchanged } : {}),
    ...(endpoint.bodyBytes === undefined ? {} : { bodyLimit: endpoint.bodyBytes }),
    schema: {
      summary: endpoint.summary,
      tags: [area],
      ...(access === 'public' ? {} : { security: [{ bearer: [] }] }),
      ...(params === undefined ? {} : { params }),
      ...(query === undefined ? {} : { querystring: query }),
      ...(body === undefined ? {} : { body }),
      response: endpoint.answers,
    },
    async onRequest(request) {
      callers.set(
        request,
        await admit(context, { access, area, intent }, apiCredentialsOf(context, request)),
      );
    },
    async preValidation(request) {
      if (knownKeys === undefined) return;
      // A request without a body has none of the fields; what is required is then missing.
      const given: unknown = request.body ?? {};
      if (typeof given !== 'object' || Array.isArray(given)) return;
      request.body = foldKeys(given as Record<string, unknown>, knownKeys);
    },
    async handler(request, reply) {
      const { url, body } = request;
      const caller = callers.get(request);
      const call = {
        params: request.params,
        query: request.query,
        body: body as Record<string, unknown>,
        caller,
        url,
        accept: request.headers.accept ?? '',
      };
      const handle = async (inside: Context) => {
        try {
          return await withShare(shareOf(caller), () => endpoint.handle(call, inside));
        } catch (error) {
          throw await explainRemoved(context, error);
        }
      };
      const key = request.headers['idempotency-key'];
      const { keyed } = endpoint;
      const answer =
        caller === undefined || key === undefined || keyed === undefined
          ? await handle(context)
          : await answerOnce(
              context,
              caller,
              {
                key: String(key),
                method,
                url,
                body,
                checkReplay: () => keyed(context, caller, request.params as never),
              },
              handle,
            );
      reply.code(answer.status).headers(answer.headers ?? {});
      const isRaw =
        typeof answer.body === 'string' || answer.body instanceof Readable || Buffer.isBuffer(answer.body);
      if (isRaw) reply.type(answer.type ?? 'text/plain; charset=utf-8');
      return reply.send(answer.body);
    },
  });
}
