import { Readable } from 'node:stream';
import { type TimeLimit, withinTime } from '@croft/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answer } from './answer-errors.ts';
import type { ErrorDialect } from './errors.ts';
import type { App } from './types.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Milliseconds a request to this route may take; 0 lets it take as long as it streams. */
    timeoutMs?: number;
  }
  interface FastifyRequest {
    /** Aborts when the request has taken too long or its client has gone: what is still done for it can stop. */
    readonly abandoned: AbortSignal;
  }
}

/**
 * Answers for a handler that takes too long. Fastify's own time-out makes and aborts a signal for each request, which
 * costs 35 µs where this timer costs one; here a signal is made for those who look at it.
 * @param stopsWork whether such a handler can begin no further statement: what was answered 504 is not done afterwards
 */
export function limitTime(app: App, defaultMs: number, dialect: ErrorDialect, stopsWork: boolean): void {
  const controllers = new WeakMap<FastifyRequest, AbortController>();
  const times = new WeakMap<FastifyRequest, TimeLimit>();
  const controllerOf = (request: FastifyRequest): AbortController => {
    const known = controllers.get(request) ?? new AbortController();
    controllers.set(request, known);
    return known;
  };
  app.decorateRequest('abandoned', {
    getter() {
      return controllerOf(this).signal;
    },
  });
  app.addHook('onRequest', (request, reply, done) => {
    const limit = request.routeOptions.config.timeoutMs ?? defaultMs;
    const time: TimeLimit = { over: false };
    if (stopsWork) times.set(request, time);
    const timer = limit > 0 ? setTimeout(endRequest, limit) : undefined;
    function endRequest(): void {
      // Of a stream that has begun nothing else can be said; it ends when nobody takes it any more.
      if (reply.sent || reply.raw.headersSent) return;
      time.over = true;
      answer(reply, dialect.timedOut(), request, dialect);
      closeLateStreams(reply);
      controllerOf(request).abort(new DOMException('the request took too long', 'TimeoutError'));
    }
    reply.raw.once('close', () => {
      clearTimeout(timer);
      if (!reply.raw.writableFinished) {
        controllerOf(request).abort(new DOMException('the client has gone', 'AbortError'));
      }
    });
    done();
  });
  if (!stopsWork) return;
  // Not earlier: what follows the receipt of a body runs as part of the connection, not of what the hooks began.
  app.addHook('preValidation', (request, _reply, done) => {
    const time = times.get(request);
    if (time === undefined) return done();
    withinTime(time, done);
  });
}

/** A stream that a handler still sends nobody reads: it would keep what it holds, such as a file or a program, for good. */
function closeLateStreams(reply: FastifyReply): void {
  const send = reply.send.bind(reply);
  reply.send = (payload) => {
    if (!(payload instanceof Readable)) return send(payload);
    payload.destroy();
    return reply;
  };
}
