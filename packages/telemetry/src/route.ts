/** A route of Fastify (`/admin/users/:user_id`) in the form the contract shows (`/admin/users/{user_id}`). */
export function routePattern(url: string): string {
  return url.replace(/:([A-Za-z_]\w*)(\([^)]*\))?\??/g, '{$1}');
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The method, or `_OTHER` for those we have no route of: a client's inventions must not become label values. */
export function knownMethod(method: string): string {
  return METHODS.has(method) ? method : '_OTHER';
}

/** A UUID, or a number as long as numbers of ours get. */
const HARMLESS = /^(?:[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|\d{1,19})$/i;

/**
 * What a span says of a path parameter. A path is whatever the client typed: addresses and tokens end up in it, so
 * only ids are shown as they are.
 */
export function shownParameter(value: string): string {
  return HARMLESS.test(value) ? value : 'hidden';
}
