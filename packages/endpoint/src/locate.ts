import { cached } from './cache.ts';
import { EndpointError, refuse } from './error.ts';
import { expandTemplate, type Values } from './expand.ts';
import type { Target } from './target.ts';

// Ends without a slash, so that the join has exactly one.
const trimBase = cached((baseUrl) => {
  refuse(/[?#]|^[^/]*:[/\\]*$/, baseUrl, 'malformed', 'baseUrl');
  while (baseUrl.endsWith('/')) baseUrl = baseUrl.slice(0, -1);
  return baseUrl;
});

// The dots of a segment that has nothing else, if it comes before a query or fragment
const dotsOf = (path: string) => /\/(\.|%2e){1,2}(?![^/?#])|[?#]/i.exec(`/${path}`)?.[1];

/** The url of a request without the query parameters its template does not mention. */
export function locate(
  { origin, template, names }: Target,
  baseUrl: string,
  values: Values,
  isStrict?: boolean,
): string {
  let path = expandTemplate(template, values, isStrict);
  // No segment may be `.` or `..`, whoever wrote it; `%2e` is a dot to a URL parser.
  if (dotsOf(path)) {
    const [name = 'url', position] =
      [...names].find(([name]) => typeof values[name] === 'string' && dotsOf(values[name])) ?? [];
    throw new EndpointError('dot segment', name, position);
  }
  // A trailing slash goes unless it is the whole path; a query or fragment may end in one.
  if (path.endsWith('/')) path = path.replace(/^([^?#]+)\/$/, '$1');
  return origin ? origin + path : trimBase(baseUrl) + path.replace(/^(?!\/(?!\/))\/*/, '/');
}
