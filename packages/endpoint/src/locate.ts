import { cached } from './cache.ts';
import { EndpointError, refuse } from './error.ts';
import { expandExpression, expandTemplate, type Values } from './expand.ts';
import type { Target } from './target.ts';
import type { Expression, Template } from './template.ts';

// Ends without a slash, so that the join has exactly one.
const trimBase = cached((baseUrl) => {
  refuse(/[?#]/, baseUrl, 'query or fragment', 'baseUrl');
  let end = baseUrl.length;
  while (baseUrl[end - 1] === '/') end--;
  return baseUrl.slice(0, end);
});

/** The url of a request without the query parameters its template does not mention. */
export function locate({ origin, template }: Target, baseUrl: string, values: Values): string {
  let path = expandTemplate(template, values);
  if (path.includes('/.') || path.includes('/%2')) refuseDotSegments(template, values);
  // `{+path}` and `{/path}` at the start may bring slashes of their own.
  if (!origin && path[1] === '/' && /[+/]/.test((template[1] as Expression).sign))
    path = path.replace(/^\/+/, '/');
  // Decision: a trailing slash goes unless it is the whole path; a query or fragment may end in one.
  if (path.endsWith('/') && path.length > 1 && !/[?#]/.test(path)) path = path.slice(0, -1);
  return (origin || trimBase(baseUrl)) + path;
}

/** Refuses a missing or empty value of a placeholder that is not optional, for `request.strict`. */
export function requireValues(template: Template, values: Values): void {
  for (const part of template) {
    if (typeof part === 'string' || !/^\+?$/.test(part.sign)) continue;
    for (const variable of part.variables) {
      if (!expandExpression({ ...part, variables: [variable] }, values)) {
        throw new EndpointError('value missing', variable[0], part.position);
      }
    }
  }
}

// A value may neither be `.` or `..` nor make such a segment with what stands beside it; `%2e` is a dot to a URL
// parser. Marks around expanded parts, which cannot contain one, tell them from the template's own text.
function refuseDotSegments(template: Template, values: Values): void {
  const expressions = template.filter((part) => typeof part !== 'string');
  const marked = template.map((part) =>
    typeof part === 'string' ? part : `\0${expandExpression(part, values)}\0`,
  );
  let marks = 0;
  for (const segment of (marked.join('').split(/[?#]/, 1)[0] as string).split('/')) {
    const pieces = segment.split('\0');
    if ((marks % 2 || pieces.length > 1) && /^(\.|%2e){1,2}$/i.test(pieces.join(''))) {
      const { variables, position } = expressions[marks >> 1] as Expression;
      throw new EndpointError('dot segment', variables[0]?.[0] ?? 'url', position);
    }
    marks += pieces.length - 1;
  }
}
