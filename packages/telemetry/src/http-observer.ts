import type { App } from '@croft/http';
import {
  type Attributes,
  type Meter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { knownMethod, routePattern, shownParameter } from './route.ts';

/** The status nginx writes when the client went away before its answer. */
const CLIENT_CLOSED_REQUEST = 499;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** Seconds, as the semantic conventions have them for HTTP servers. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** A request as far as it is watched. */
interface Watched {
  id: string;
  method: string;
  routeOptions: { url?: string | undefined };
  params: unknown;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * A span and a measurement for every request. Only the pattern of the route is told, ids in its parameters, method and
 * status: never path, query, headers or bodies, which hold tokens and addresses.
 */
export function observeRequests(app: App, tracer: Tracer | undefined, meter: Meter | undefined): void {
  const duration = meter?.createHistogram('http.server.request.duration', {
    unit: 's',
    description: 'Time from the request to the end of its answer.',
    advice: { explicitBucketBoundaries: BUCKETS },
  });
  const active = meter?.createUpDownCounter('http.server.active_requests', {
    unit: '{request}',
    description: 'Requests that wait for their answer.',
  });
  const underWay = new WeakMap<Watched, { span: Span | undefined; startedAt: number; method: string }>();

  const begin = (request: Watched): void => {
    const method = knownMethod(request.method);
    active?.add(1, { 'http.method': method });
    const span = tracer && startSpan(tracer, request, method);
    underWay.set(request, { span, startedAt: performance.now(), method });
  };
  const end = (request: Watched, status: number): void => {
    const begun = underWay.get(request);
    // A request that was given up may be answered all the same.
    if (begun === undefined) return;
    underWay.delete(request);
    const { span, startedAt, method } = begun;
    const labels = {
      'http.method': method,
      'http.route': routePattern(request.routeOptions.url ?? 'none'),
      'http.status_code': status,
    };
    active?.add(-1, { 'http.method': method });
    duration?.record((performance.now() - startedAt) / 1000, labels);
    if (span === undefined) return;
    span.setAttribute('http.status_code', status);
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  };

  app.addHook('onRequest', (request, _reply, done) => {
    begin(request);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    end(request, reply.statusCode);
    done();
  });
  app.addHook('onRequestAbort', (request, done) => {
    end(request, CLIENT_CLOSED_REQUEST);
    done();
  });
}

const propagator = new W3CTraceContextPropagator();

function startSpan(tracer: Tracer, request: Watched, method: string): Span {
  const { url } = request.routeOptions;
  const route = routePattern(url ?? 'none');
  const attributes: Attributes = { 'http.method': method, 'http.route': route };
  // Where no route is, the whole path stands as the parameter `*`.
  const parameters = url === undefined ? {} : (request.params ?? {});
  for (const [key, value] of Object.entries(parameters)) {
    if (typeof value === 'string') attributes[`http.route.params.${key}`] = shownParameter(value);
  }
  // The id may be the client's own text; what it is not allowed to be, it is not shown as.
  if (UUID.test(request.id)) attributes['http.request.id'] = request.id;
  const parent = propagator.extract(ROOT_CONTEXT, request.headers, {
    keys: (headers) => Object.keys(headers),
    // `tracestate` is free text of the caller: it would travel on to the collector.
    get: (headers: Watched['headers'], key) => (key === 'traceparent' ? headers[key] : undefined),
  });
  return tracer.startSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes }, parent);
}
