import type { App } from '@croft/http';

const METHODS = 'GET, POST, PUT, PATCH, DELETE';
// `apikey` is of gateways before a service like this one: createClient of supabase-js sends it with every request.
const ALLOWED =
  'Accept, apikey, Authorization, Content-Type, X-Client-IP, X-Client-Info, X-JWT-AUD, x-use-cookie, X-Supabase-Api-Version';
const EXPOSED = 'X-Total-Count, Link, X-Supabase-Api-Version, X-SB-Error-Code, Retry-After';

/**
 * Lets browsers of any origin call (as in GoTrue): callers prove themselves by a header that only
 * their own code can set, never by a cookie. Preflights are answered 204 whatever the path.
 */
export function allowBrowsers(app: App, furtherHeaders: readonly string[]): void {
  const allowed = [ALLOWED, ...furtherHeaders].join(', ');
  app.addHook('onRequest', (request, reply, done) => {
    if (request.headers.origin === undefined) return done();
    reply.header('access-control-allow-origin', '*').header('access-control-allow-credentials', 'true');
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) {
      reply.header('access-control-expose-headers', EXPOSED);
      return done();
    }
    reply
      .header('access-control-allow-methods', METHODS)
      .header('access-control-allow-headers', allowed)
      .header('access-control-max-age', '600')
      .header('vary', 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers')
      .code(204)
      .send();
  });
}
