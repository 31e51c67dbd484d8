import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { Failure } from '@croft/failure';
import { type Log, reasonOf } from '@croft/runtime';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorDialect } from './errors.ts';
import { MalformedBody } from './json-body.ts';
import type { App } from './types.ts';
import { InvalidRequest } from './validation.ts';

/** Answers everything a request can end with besides success, in the service's dialect. */
export function answerErrors(app: App, dialect: ErrorDialect, log: Log): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const known = asFailure(error, request, dialect, app.initialConfig.bodyLimit ?? 0);
    if (known === undefined || known.cause !== undefined) {
      log.error({ requestId: request.id, error: describe(error) }, 'request failed');
    }
    return answer(reply, known ?? dialect.fromError(error), request, dialect);
  });
  app.setNotFoundHandler((request, reply) =>
    answer(reply, dialect.routeNotFound(request.method, pathOf(request.url)), request, dialect),
  );
}

/** What a handler said of the body that it meant to send: none of it is true of an error. */
const OF_THE_BODY = [
  'content-disposition',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'etag',
  'last-modified',
];

/** Sends a failure the way an error handler would; for handlers that must not throw, such as streaming ones. */
export function answer(
  reply: FastifyReply,
  failure: Failure,
  request: FastifyRequest,
  dialect: ErrorDialect,
): FastifyReply {
  const { status, headers, body } = dialect.render(failure, {
    id: request.id,
    headers: request.headers,
    url: request.url,
  });
  takeBack(reply);
  if (failure.retryAfterSeconds !== undefined)
    reply.header('retry-after', String(Math.ceil(failure.retryAfterSeconds)));
  reply.code(status).headers(headers ?? {});
  if (status === 413) discardRest(reply, request.raw);
  if (body === undefined) return reply.send();
  if (typeof body === 'string') return reply.type('text/plain; charset=utf-8').send(body);
  return reply.type('application/json').send(JSON.stringify(body));
}

/** Headers of a stream that has said nothing yet have gone further than the framework's. */
function takeBack(reply: FastifyReply): void {
  if (reply.raw.headersSent) return;
  const control = String(reply.getHeader('cache-control'));
  const names = /\bno-(?:store|cache)\b/.test(control) ? OF_THE_BODY : [...OF_THE_BODY, 'cache-control'];
  for (const name of names) {
    reply.removeHeader(name);
    reply.raw.removeHeader(name);
  }
}

/**
 * Answers what Node's parser cannot read as a request, before there is one, and hangs up when the answer was taken. Requests before it
 * on the connection are answered first (RFC 9112 §9.3.2): what they asked for is done.
 */
export function answerUnreadable(error: Error, socket: Socket, dialect: ErrorDialect): void {
  // Node's own answer looks there as well.
  const { _httpMessage: current } = socket as Socket & { _httpMessage?: ServerResponse | null };
  const isInTheMiddle = current?.headersSent === true && !current.writableEnded;
  if ((error as { code?: string }).code === 'ECONNRESET' || !socket.writable || isInTheMiddle) {
    socket.destroy(error);
    return;
  }
  // The parser would fail at what follows once more.
  discard(socket.removeAllListeners('data'));
  // One that did not come whole is what cannot be read.
  if (current?.req.complete === true) {
    current.once('close', () => answerUnreadable(error, socket, dialect));
    return;
  }
  const failure = asUnreadable(error, dialect);
  const { status, headers = {}, body } = dialect.render(failure, { id: randomUUID(), headers: {}, url: '/' });
  const text = JSON.stringify(body);
  const fields = {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    connection: 'close',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`);
  hangUpLater(socket, DISCARD_MS);
}

function asUnreadable(error: Error, dialect: ErrorDialect): Failure {
  const { code = '', reason = error.message } = error as { code?: string; reason?: string };
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return dialect.unreadable('headers-too-large', 'the headers are too large');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return dialect.unreadable('too-slow', 'the request did not come in time');
    default:
      return dialect.unreadable('invalid', `this is no request of HTTP: ${reason}`);
  }
}

/** What a client may go on sending after it was told that it is too much. */
const DISCARD_BYTES = 64 * 1024 * 1024;
const DISCARD_MS = 10_000;
/** To what takes as long as it takes, such as a push, which reads its answer when it has sent everything. */
const DISCARD_STREAM_MS = 300_000;

/**
 * Reads on and forgets, within limits: a client that is still sending when we hang up sees a broken connection
 * instead of the answer (RFC 9112 §9.6).
 */
function discardRest(reply: FastifyReply, request: IncomingMessage): void {
  reply.removeHeader('connection');
  hangUpLater(request, DISCARD_MS);
  discard(request);
}

function discard(coming: Readable): void {
  let left = DISCARD_BYTES;
  coming.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) coming.destroy();
  });
}

/**
 * Ends requests that were answered while their bodies are still coming, after a while: nobody else would end those of a client
 * that sends a byte a minute.
 */
export function endUnread(app: App): void {
  app.addHook('onResponse', (request, _reply, done) => {
    const { timeoutMs } = request.routeOptions.config;
    if (!request.raw.complete) hangUpLater(request.raw, timeoutMs === 0 ? DISCARD_STREAM_MS : DISCARD_MS);
    done();
  });
}

function hangUpLater(coming: Readable, ms: number): void {
  // Whoever has gone tells it no more.
  if (coming.destroyed) return;
  const hangUp = setTimeout(() => coming.destroy(), ms);
  // The connection keeps a process from ending, or it is closed by whoever ends that.
  hangUp.unref();
  for (const event of ['end', 'close']) coming.once(event, () => clearTimeout(hangUp));
}

function asFailure(
  error: FastifyError,
  request: FastifyRequest,
  dialect: ErrorDialect,
  limit: number,
): Failure | undefined {
  if (error instanceof Failure) return error;
  if (error instanceof MalformedBody) return dialect.malformedBody(error.message);
  if (error instanceof InvalidRequest)
    return dialect.invalidRequest(error.validationContext ?? 'body', error.issues);
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return dialect.bodyTooLarge(request.routeOptions.bodyLimit ?? limit);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return dialect.unsupportedMediaType(request.headers['content-type'] ?? '');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return dialect.malformedBody('its size differs from Content-Length');
    case 'ECONNRESET':
      // The client hung up in the middle: nobody's bug, and nobody reads the answer.
      return request.raw.destroyed ? dialect.malformedBody('it ended before all of it came') : undefined;
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return dialect.routeNotFound(request.method, pathOf(request.url));
  }
  return undefined;
}

function describe(error: Error): object {
  const { code } = error as { code?: unknown };
  return {
    name: error.name,
    message: reasonOf(error),
    ...(code === undefined ? {} : { code }),
    stack: error.stack,
    cause: error.cause instanceof Error ? describe(error.cause) : error.cause,
  };
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] as string;
}
