import { type App, answerOtherMethods, createApp } from '@croft/http';
import type { Telemetry } from '@croft/telemetry';
import { accountRoutes } from './account/routes.ts';
import { sessionRoutes } from './account/session-routes.ts';
import { adminRoutes } from './admin/routes.ts';
import { requireCaptcha } from './caller/check-captcha.ts';
import { checkOperator } from './caller/check-operator.ts';
import { hideRecoveryCodes } from './caller/hide-recovery-codes.ts';
import { limitClients } from './caller/limit-clients.ts';
import { recogniseClients } from './caller/origin.ts';
import type { AuthContext } from './context.ts';
import { allowBrowsers } from './cors.ts';
import { disabledRoutes } from './disabled/routes.ts';
import { errorDialect } from './error-json.ts';
import { externalRoutes } from './external/routes.ts';
import { factorRoutes } from './factors/routes.ts';
import { healthRoutes } from './health/routes.ts';
import { identityRoutes } from './identities/routes.ts';
import { keyRoutes } from './keys/routes.ts';
import { publicSettingsRoutes } from './public-settings/routes.ts';
import { recoveryRoutes } from './recovery/routes.ts';
import { declareRefusals } from './responses.ts';
import { signInRoutes } from './sign-in/routes.ts';
import { signUpRoutes } from './sign-up/routes.ts';
import { verificationRoutes } from './verification/routes.ts';

/** Every endpoint of auth. */
export async function createAuthApp(
  context: AuthContext,
  telemetry?: Pick<Telemetry, 'observe'>,
): Promise<App> {
  const { settings, log, version } = context;
  const app = await createApp({
    api: {
      title: 'Croft auth',
      description: 'Users and sign-in.',
      version,
      // A proxy may serve it below a path.
      basePath: () => new URL(settings.API_EXTERNAL_URL).pathname.replace(/\/+$/, ''),
    },
    log,
    errors: errorDialect,
    requestIdHeader: settings.REQUEST_ID_HEADER,
    ignoreTrailingSlash: true,
    stopLateWork: true,
    handlerTimeoutMs: Math.ceil(settings.API_MAX_REQUEST_DURATION),
  });
  telemetry?.observe(app);
  allowBrowsers(app, settings.CORS_ALLOWED_HEADERS);
  recogniseClients(app, settings);
  limitClients(app, context);
  requireCaptcha(app, context);
  app.addHook('onRequest', (request, _reply, done) => {
    checkOperator(context, request.headers);
    done();
  });
  hideRecoveryCodes(app);
  answerPlainJson(app);
  declareRefusals(app);
  answerOtherMethods(app, errorDialect);
  healthRoutes(app, context); // GET /health, GET /ready
  publicSettingsRoutes(app, context); // GET /settings
  signUpRoutes(app, context); // POST /signup
  verificationRoutes(app, context); // GET /verify, POST /verify
  recoveryRoutes(app, context); // POST /recover, /magiclink, /otp, /resend
  signInRoutes(app, context); // POST /token
  externalRoutes(app, context); // GET /authorize, GET and POST /callback
  adminRoutes(app, context); // /admin/users, /admin/users/:user_id, /admin/audit, /admin/generate_link, POST /invite
  keyRoutes(app, context); // GET /.well-known/jwks.json
  sessionRoutes(app, context); // GET /user/sessions, DELETE /user/sessions/:session_id
  factorRoutes(app, context); // POST /factors, /factors/:factor_id/challenge and verify, DELETE; /factors/recovery-codes
  identityRoutes(app, context); // GET /user/identities/authorize, DELETE /user/identities/:identity_id
  disabledRoutes(app, context); // what clients may ask for and is not there
  accountRoutes(app, context); // GET and PUT /user, GET /reauthenticate, POST /logout
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
