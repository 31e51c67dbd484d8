import { randomUUID } from 'node:crypto';
import type { Log } from '@croft/runtime';
import Fastify from 'fastify';
import { answerErrors, answerUnreadable, endUnread } from './answer-errors.ts';
import type { ErrorDialect } from './errors.ts';
import { parseJsonBodies } from './json-body.ts';
import { type ApiDescription, serveOpenApi } from './openapi.ts';
import { limitTime } from './time-limit.ts';
import type { App } from './types.ts';
import { compileValidator } from './validation.ts';

/** What an HTTP service decides about its application. */
export interface AppOptions {
  api: ApiDescription;
  log: Log;
  errors: ErrorDialect;
  /** Header from which a request inherits its id; without it each request gets a new UUID. */
  requestIdHeader?: string | undefined;
  /** Bytes of a JSON body; routes that stream set their own. */
  bodyLimitBytes?: number;
  /** Milliseconds a request may take; routes that stream say otherwise with `config: { timeoutMs }`. */
  handlerTimeoutMs?: number;
  /** Milliseconds in which nothing moves on a connection, in either direction, before it is closed. */
  idleTimeoutMs?: number;
  /**
   * Whether a handler that took too long can begin no further statement. Not for services whose handlers must record
   * what they did outside the database.
   */
  stopLateWork?: boolean;
  /** Whether `GET` routes answer `HEAD` as well. */
  headRoutes?: boolean;
  /** Whether `/a/` is `/a`. */
  ignoreTrailingSlash?: boolean;
}

const DEFAULT_BODY_LIMIT_BYTES = 1024 * 1024;
/**
 * Access tokens carry what a user says of himself, up to 512 KiB (`user_metadata`), and he must be able to send the one with
 * which he makes that less again; Node would end at 16 KiB.
 */
const MAX_HEADER_BYTES = 1024 * 1024;
const DEFAULT_HANDLER_TIMEOUT_MS = 10_000;
/** A client that sends its request more slowly than this is not worth a socket. */
const RECEIVE_TIMEOUT_MS = 5 * 60_000;
/** Nor is one that takes nothing of its answer for so long, which is in our memory or an open file meanwhile. */
const IDLE_TIMEOUT_MS = 5 * 60_000;

/**
 * The application every HTTP service is built on: ids, errors in the service's dialect, one log line a request,
 * limits, and the OpenAPI document. `answerOtherMethods` before the routes answers other methods with 405.
 */
export async function createApp(options: AppOptions): Promise<App> {
  const app: App = Fastify({
    logger: false,
    bodyLimit: options.bodyLimitBytes ?? DEFAULT_BODY_LIMIT_BYTES,
    requestTimeout: RECEIVE_TIMEOUT_MS,
    connectionTimeout: options.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
    http: { maxHeaderSize: MAX_HEADER_BYTES },
    keepAliveTimeout: 72_000,
    exposeHeadRoutes: options.headRoutes ?? false,
    requestIdHeader: options.requestIdHeader ?? false,
    genReqId: () => randomUUID(),
    return503OnClosing: false,
    // A parameter may hold a whole branch name or token; longer ones are 404 before any handler sees them.
    routerOptions: { maxParamLength: 1024, ignoreTrailingSlash: options.ignoreTrailingSlash ?? false },
    schemaController: { compilersFactory: { buildValidator: notNeeded, buildSerializer: notNeeded } },
    clientErrorHandler: (error, socket) => answerUnreadable(error, socket, options.errors),
    frameworkErrors: (error, request, reply) => app.errorHandler(error, request, reply),
  });
  app.setValidatorCompiler(compileValidator);
  // Response schemas document; the handlers' types are what checks them.
  app.setSerializerCompiler(() => JSON.stringify);
  parseJsonBodies(app);
  answerErrors(app, options.errors, options.log);
  limitTime(
    app,
    options.handlerTimeoutMs ?? DEFAULT_HANDLER_TIMEOUT_MS,
    options.errors,
    options.stopLateWork ?? false,
  );
  endUnread(app);
  logRequests(app, options.log);
  serveOpenApi(app, options.api);
  return app;
}

/** Stands where Fastify would load its own validator and serialiser, a hundred modules that nothing here uses. */
function notNeeded(): never {
  throw new Error('the application has its own validator and serialiser');
}

/** One line a request, with the pattern of its route: paths hold names and tokens, patterns do not. */
function logRequests(app: App, log: Log): void {
  app.addHook('onResponse', (request, reply, done) => {
    log.info(
      {
        requestId: request.id,
        method: request.method,
        route: request.routeOptions.url ?? 'none',
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request',
    );
    done();
  });
}
