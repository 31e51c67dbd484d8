import { type App, collectMethods, createApp } from '@croft/http';
import * as about from './about/routes.ts';
import * as accessTokens from './access-tokens/routes.ts';
import type { Context } from './context.ts';
import type { Endpoint } from './endpoint.ts';
import { forgeDialect } from './error-dialect.ts';
import { notFound } from './failures.ts';
import { gitRoutes } from './git-http/routes.ts';
import * as issues from './issues/routes.ts';
import { API_PREFIX } from './links.ts';
import { type Method, mount } from './mount.ts';
import * as pulls from './pulls/routes.ts';
import * as repositories from './repositories/routes.ts';
import * as users from './users/routes.ts';

/** The whole API, in the order of the documentation; paths are below `/api/v1`. */
export const ENDPOINTS: readonly (readonly [Method, string, Endpoint])[] = [
  ['GET', '/version', about.version],
  ['GET', '/settings/api', about.apiSettings],

  ['GET', '/user', users.caller],
  ['GET', '/users/:username', users.show],
  ['GET', '/users/:username/tokens', accessTokens.list],
  ['POST', '/users/:username/tokens', accessTokens.create],
  ['DELETE', '/users/:username/tokens/:token', accessTokens.remove],

  ['GET', '/user/repos', repositories.listOwn],
  ['POST', '/user/repos', repositories.create],
  ['GET', '/repos/:owner/:repo', repositories.show],
  ['DELETE', '/repos/:owner/:repo', repositories.remove],

  ['GET', '/repos/:owner/:repo/issues', issues.list],
  ['POST', '/repos/:owner/:repo/issues', issues.create],
  ['GET', '/repos/:owner/:repo/issues/:index', issues.show],
  ['PATCH', '/repos/:owner/:repo/issues/:index', issues.edit],

  ['GET', '/repos/:owner/:repo/pulls', pulls.list],
  ['POST', '/repos/:owner/:repo/pulls', pulls.create],
  ['GET', '/repos/:owner/:repo/pulls/:index', pulls.show],
  ['PATCH', '/repos/:owner/:repo/pulls/:index', pulls.edit],
  ['GET', '/repos/:owner/:repo/pulls/:index(^\\d+).:diffType(^(?:diff|patch)$)', pulls.changes],
  ['GET', '/repos/:owner/:repo/pulls/:index/merge', pulls.merged],
  ['POST', '/repos/:owner/:repo/pulls/:index/merge', pulls.merge],
];

/** The HTTP application: the API, and git's protocol beside it. */
export async function createForgeApp(context: Context): Promise<App> {
  const dialect = forgeDialect(context.links);
  const app = await createApp({
    api: {
      title: 'Croft Forge',
      description: 'Issues and pull requests over git repositories.',
      version: context.version,
      path: `${API_PREFIX}/openapi.json`,
    },
    log: context.log,
    errors: dialect,
  });
  // A push may take an hour; what is slow for no reason is ended by the time limits of the routes.
  app.server.requestTimeout = 0;
  app.addHook('onRequest', async (request) => {
    // No name has a NUL in it, and PostgreSQL would fail over one.
    if (request.url.split('?', 1)[0]?.includes('%00')) throw notFound();
  });
  const methods = collectMethods(app, dialect);
  for (const [method, path, endpoint] of ENDPOINTS) mount(app, context, method, path, endpoint);
  await gitRoutes(app, context);
  methods.answerOthers();
  return app;
}
