import { type App, collectMethods, createApp } from '@croft/http';
import { accountRoutes } from './account/routes.ts';
import type { AuthContext } from './context.ts';
import { allowBrowsers } from './cors.ts';
import { errorDialect } from './error-json.ts';
import { healthRoutes } from './health/routes.ts';
import { publicSettingsRoutes } from './public-settings/routes.ts';
import { signInRoutes } from './sign-in/routes.ts';
import { signUpRoutes } from './sign-up/routes.ts';
import { verificationRoutes } from './verification/routes.ts';

/** Every endpoint of auth. */
export async function createAuthApp(context: AuthContext): Promise<App> {
  const { settings, log, version } = context;
  const app = await createApp({
    api: { title: 'Croft auth', description: 'Users and sign-in.', version },
    log,
    errors: errorDialect,
    requestIdHeader: settings.REQUEST_ID_HEADER,
    handlerTimeoutMs: Math.max(1, Math.ceil(settings.API_MAX_REQUEST_DURATION)),
  });
  allowBrowsers(app, settings.CORS_ALLOWED_HEADERS);
  answerPlainJson(app);
  const methods = collectMethods(app, errorDialect);
  healthRoutes(app, context); // GET /health, GET /ready
  publicSettingsRoutes(app, context); // GET /settings
  signUpRoutes(app, context); // POST /signup
  verificationRoutes(app, context); // GET /verify, POST /verify
  signInRoutes(app, context); // POST /token
  accountRoutes(app, context); // GET /user, POST /logout
  methods.answerOthers();
  return app;
}

/** `application/json` has no charset (RFC 8259 §11), and clients compare the header to the letter. */
function answerPlainJson(app: App): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (reply.getHeader('content-type') === 'application/json; charset=utf-8') {
      reply.header('content-type', 'application/json');
    }
    done(null, payload);
  });
}
