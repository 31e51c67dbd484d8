import { withFormat, withPreviews } from './accept.ts';
import { isRawBody } from './body.ts';
import { expandExpression } from './expand.ts';
import { addHeaders, lowerToken } from './headers.ts';
import { locate } from './locate.ts';
import { isSetting } from './options.ts';
import { targetOf } from './target.ts';
import type { Variable } from './template.ts';
import type { EndpointOptions, RequestHeaders, RequestOptions } from './types.ts';
import { textOf } from './value.ts';

/** Turns merged options into what an HTTP client needs; needs no defaults and keeps no state. */
export function parse(options: EndpointOptions): RequestOptions {
  return build(options, addHeaders({}, options.headers), options);
}

/** Places every parameter in the url, the query or the body; `headers` are in order already, amended and given out. */
export function build(
  options: EndpointOptions,
  headers: RequestHeaders,
  values: Readonly<Record<string, unknown>>,
): RequestOptions {
  const { request } = options;
  const method = lowerToken(textOf(options.method ?? 'get', 'method'), 'method');
  const target = targetOf(textOf(options.url ?? '', 'url'));
  const url = locate(target, textOf(options.baseUrl ?? '', 'baseUrl'), values, request?.strict);

  const isQuery = method === 'get' || method === 'head';
  const variables: Variable[] = [];
  let json: Record<string, unknown> | undefined;
  let data: unknown;
  for (const name of Object.keys(values)) {
    const value = values[name];
    if (value === undefined || isSetting(name) || target.names.has(name)) continue;
    // `data` is the body itself, so never a parameter.
    if (name === 'data') data = value;
    else if (isQuery) variables.push([name, false, 0]);
    else (json ??= {})[name] = value;
  }

  const { accept } = headers;
  const { format, previews } = options.mediaType ?? {};
  if (accept && previews?.[0] && url.endsWith('/graphql'))
    addHeaders(headers, { accept: withPreviews(accept, previews, format) });
  else if (accept && format) addHeaders(headers, { accept: withFormat(accept, format) });

  const result: RequestOptions = { method, url, headers };
  if (variables.length) {
    // The query stands before the fragment.
    result.url = url.replace(/[^#]*/, (path) => {
      return path + expandExpression({ sign: path.includes('?') ? '&' : '?', variables }, values, true);
    });
  }
  const body = data === undefined ? json : data;
  if (!isQuery && body !== undefined) {
    result.body = body;
    if (!isRawBody(body)) headers['content-type'] ||= 'application/json; charset=utf-8';
  }
  if (request) result.request = request;
  return result;
}
