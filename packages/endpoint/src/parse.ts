import { withFormat, withPreviews } from './accept.ts';
import { isRawBody } from './body.ts';
import { addHeaders, checkHeader, methodName } from './headers.ts';
import { locate, requireValues } from './locate.ts';
import { isParameter } from './options.ts';
import { addQuery, queryPair } from './query.ts';
import { targetOf } from './target.ts';
import type { EndpointOptions, MediaType, RequestHeaders, RequestOptions } from './types.ts';
import { textOf } from './value.ts';

/** Turns merged options into what an HTTP client needs; needs no defaults and keeps no state. */
export function parse(options: EndpointOptions): RequestOptions {
  return build(options, addHeaders({}, options.headers ?? {}), options);
}

/** Places every parameter in the url, the query or the body; `headers` are in order already, amended and given out. */
export function build(
  settings: EndpointOptions,
  headers: RequestHeaders,
  parameters: Readonly<Record<string, unknown>>,
): RequestOptions {
  const { request, mediaType } = settings;
  const method = methodName(textOf(settings.method ?? 'GET', 'method'));
  const target = targetOf(textOf(settings.url ?? '', 'url'));
  if (request?.strict === true) requireValues(target.template, parameters);
  const url = locate(target, textOf(settings.baseUrl ?? '', 'baseUrl'), parameters);

  const isQuery = method === 'get' || method === 'head';
  let pairs = '';
  let json: Record<string, unknown> | undefined;
  let data: unknown;
  for (const name of Object.keys(parameters)) {
    const value = parameters[name];
    if (value === undefined || !isParameter(name) || target.names.has(name)) continue;
    // `data` is the body itself, so never a parameter.
    if (name === 'data') data = value;
    else if (isQuery) pairs += queryPair(name, value);
    else (json ??= {})[name] = value;
  }
  for (const name of Object.keys(headers)) if (headers[name] === null) delete headers[name];
  amendAccept(headers, mediaType ?? {}, url);

  const result: RequestOptions = { method, url: addQuery(url, pairs), headers };
  const body = data === undefined ? json : data;
  if (body !== undefined && !isQuery) {
    result.body = body;
    if (!isRawBody(body)) headers['content-type'] ??= 'application/json; charset=utf-8';
  }
  if (request) result.request = request;
  return result;
}

function amendAccept(headers: RequestHeaders, { format, previews }: MediaType, url: string): void {
  const { accept } = headers;
  if (typeof accept !== 'string' || (!format && !previews) || /application\/octet-stream/i.test(accept))
    return;
  if (previews?.length && url.endsWith('/graphql')) headers.accept = withPreviews(accept, previews, format);
  else if (format) headers.accept = withFormat(accept, format);
  checkHeader(headers.accept as string, 'mediaType');
}
