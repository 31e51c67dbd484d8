import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure, httpStatus } from '@croft/failure';
import { type Log, silentLog } from '@croft/runtime';
import { afterEach, beforeEach } from 'vitest';
import { z } from 'zod';
import {
  type App,
  type AppOptions,
  answerOtherMethods,
  createApp,
  type ErrorDialect,
  type Request,
} from '../src/index.ts';

/** Tells every failure by its code. */
export const dialect: ErrorDialect = {
  unreadable: (kind, reason) => new Failure(kind, 'unreadable', reason),
  malformedBody: (reason) => new Failure('invalid', 'bad_json', reason),
  invalidRequest: (place, issues) =>
    new Failure(
      'unprocessable',
      'invalid',
      issues.map(({ path, code }) => `${place}.${path.join('.')} ${code}`).join('; '),
    ),
  bodyTooLarge: (limit) => new Failure('too-large', 'too_large', `at most ${limit} bytes`),
  unsupportedMediaType: (type) => new Failure('unprocessable', 'media_type', type),
  routeNotFound: (method, path) => new Failure('not-found', 'no_route', `${method} ${path}`),
  methodNotAllowed: (method, allow) => new Failure('not-allowed', 'method', `${method}: ${allow.join(' ')}`),
  timedOut: () => new Failure('timed-out', 'timeout', 'too slow'),
  fromError: () => new Failure('unavailable', 'unexpected', 'see the log', { retryAfterSeconds: 1.2 }),
  render: (failure, request) => ({
    status: httpStatus[failure.kind],
    body: { code: failure.code, message: failure.message, id: request.id },
  }),
};

/** A line of the log. */
interface Line {
  fields: Record<string, unknown>;
  message: string;
}

/** An application of routes that tests ask, new for each of them. */
export interface SampleApp {
  app: App;
  /** What it logged. */
  lines: Line[];
  /** Why the handlers that wait were told to stop. */
  stopped: string[];
}

/** One without a route. */
export const emptyApp = (options: Partial<AppOptions> = {}): Promise<App> =>
  createApp({
    api: { title: '', description: '', version: '' },
    log: silentLog,
    errors: dialect,
    ...options,
  });

/** Works until nobody wants the answer any more. */
async function waitFor(stopped: string[], request: Request, name: string): Promise<object> {
  await new Promise<void>((resolve) => request.abandoned.addEventListener('abort', () => resolve()));
  stopped.push(`${name}: ${(request.abandoned.reason as Error).message}`);
  return {};
}

/** Makes one before each test of a file, and closes it afterwards. */
export function useSampleApp(): SampleApp {
  const sample = {} as SampleApp;
  beforeEach(async () => {
    const lines: Line[] = [];
    const stopped: string[] = [];
    const record = (fields: object, message: string) => void lines.push({ fields: { ...fields }, message });
    const log: Log = { ...silentLog, info: record, error: record };
    const app = await createApp({
      api: { title: 'Sample', description: 'A sample.', version: '1.2.3' },
      log,
      errors: dialect,
      requestIdHeader: 'x-request-id',
      bodyLimitBytes: 1000,
      handlerTimeoutMs: 200,
    });
    answerOtherMethods(app, dialect);
    app.get('/things/:id', { schema: { params: z.object({ id: z.string() }) } }, (request) => ({
      id: request.params.id,
    }));
    app.post(
      '/things',
      { schema: { body: z.object({ name: z.string(), size: z.number().optional() }) } },
      (request) => request.body,
    );
    app.post('/closed', { onRequest: async (_request, reply) => await reply.code(401).send({}) }, () => ({}));
    app.get('/files/*', () => ({}));
    app.get('/patches/:number(^\\d+).:kind(^(?:diff|patch)$)', () => ({}));
    app.put('/things/all', () => ({ all: true }));
    app.get('/slow', async () => {
      await sleep(400);
      return {};
    });
    app.get('/stream', () =>
      Readable.from(
        (async function* () {
          yield 'begun';
          await sleep(400);
          yield ', ended';
        })(),
      ),
    );
    // What most tests begin with, also where the machine is at something else.
    app.get('/busy', { config: { timeoutMs: 10_000 } }, async () => {
      await sleep(100);
      return { done: true };
    });
    app.get('/bug', () => {
      throw new TypeError('secret detail');
    });
    app.post(
      '/forms',
      {
        config: { form: true },
        schema: { body: z.object({ name: z.string() }).loose() },
      },
      (request) => request.body,
    );
    app.get('/long', { config: { timeoutMs: 0 } }, (request) => waitFor(stopped, request, 'long'));
    app.post('/waits', (request) => waitFor(stopped, request, 'waits'));
    Object.assign(sample, { app, lines, stopped });
  });
  afterEach(() => sample.app.close());
  return sample;
}
