import { setImmediate as nextTurn } from 'node:timers/promises';
import type { App } from '@croft/http';
import { API_PREFIX, type Links } from '../links.ts';
import { type OpenApi, toSwaggerTwo } from './swagger-two.ts';

/** Serves the description of the API where tools of the reference's users look for it, and in the form they read. */
export function serveSwagger(app: App, links: Links): void {
  let document: Promise<string> | undefined;
  const options = { schema: { hide: true }, config: { timeoutMs: 0 } };
  app.get('/swagger.v1.json', options, async (_request, reply) => {
    document ??= describe(app, links.path + API_PREFIX);
    return reply.type('application/json; charset=utf-8').send(await document);
  });
}

/** Path by path, because all of them at once would hold up everybody else's requests. */
async function describe(app: App, basePath: string): Promise<string> {
  const openApi = (await app.inject(`${API_PREFIX}/openapi.json`)).json<OpenApi>();
  const paths: Record<string, unknown> = {};
  for (const [path, operations] of Object.entries(openApi.paths)) {
    await nextTurn();
    const one = { [path.slice(API_PREFIX.length)]: operations };
    Object.assign(paths, toSwaggerTwo({ ...openApi, paths: one }, basePath).paths);
  }
  return JSON.stringify({ ...toSwaggerTwo({ ...openApi, paths: {} }, basePath), paths });
}
