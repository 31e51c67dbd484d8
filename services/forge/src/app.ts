import { type App, answerOtherMethods, createApp } from '@croft/http';
import { answerBrowsers } from './about/answer-browsers.ts';
import { answerGo } from './about/answer-go.ts';
import { serveHealth } from './about/serve-health.ts';
import { serveSwagger } from './about/serve-swagger.ts';
import { downloadRoutes } from './attachments/download-routes.ts';
import { uploadRoutes } from './attachments/upload-routes.ts';
import { fileRoutes } from './contents/file-routes.ts';
import type { Context } from './context.ts';
import { ENDPOINTS } from './endpoints/index.ts';
import { forgeDialect } from './error-dialect.ts';
import { notFound } from './failures.ts';
import { gitRoutes } from './git-http/routes.ts';
import { API_PREFIX } from './links.ts';
import { mount } from './mount.ts';
import { programRoutes } from './oauth/program-routes.ts';
import { signInRoutes } from './oauth/sign-in-routes.ts';
import { changesRoutes } from './pulls/changes-routes.ts';
import { avatarRoutes } from './users/avatar-routes.ts';
import { errorSchema } from './wire-schemas.ts';

/** The HTTP application: the API, and git's protocol beside it. */
export async function createForgeApp(context: Context): Promise<App> {
  const dialect = forgeDialect(context.links);
  const app = await createApp({
    api: {
      title: 'Croft Forge',
      description: 'Issues and pull requests over git repositories.',
      version: context.version,
      path: `${API_PREFIX}/openapi.json`,
      // Known when the server listens, and the document is made when somebody asks for it.
      basePath: () => context.links.path,
      // Whoever is not known, or has a token that is not for this.
      everywhere: { 401: errorSchema, 403: errorSchema },
    },
    log: context.log,
    errors: dialect,
    // As the reference, and as RFC 9110 §9.1 has it.
    ignoreTrailingSlash: true,
    headRoutes: true,
  });
  // A push may take an hour; what is slow for no reason is ended by the time limits of the routes.
  app.server.requestTimeout = 0;
  app.addHook('onRequest', async (request) => {
    // No name has a NUL in it, and PostgreSQL would fail over one.
    if (request.url.split('?', 1)[0]?.includes('%00')) throw notFound();
  });
  answerOtherMethods(app, dialect);
  answerGo(app, context.links);
  answerBrowsers(app, context.links);
  for (const [method, path, endpoint] of ENDPOINTS) mount(app, context, method, path, endpoint);
  serveSwagger(app, context.links);
  serveHealth(app, context);
  await uploadRoutes(app, context);
  downloadRoutes(app, context);
  changesRoutes(app, context);
  avatarRoutes(app);
  signInRoutes(app, context);
  programRoutes(app, context);
  fileRoutes(app, context);
  await gitRoutes(app, context);
  return app;
}
