import type { HTTPMethods } from 'fastify';
import type { ErrorDialect } from './errors.ts';
import type { App } from './types.ts';

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Answers 405 with `Allow` on every path that has routes, for the methods it has none for (RFC 9110 §15.5.6), and
 * `OPTIONS` with the methods it has (§9.3.7).
 * Collects from the moment of the call: call it before the routes are added, and `answerOthers` after them.
 */
export function collectMethods(app: App, dialect: ErrorDialect): { answerOthers(): void } {
  const methodsByPath = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const methods = methodsByPath.get(url) ?? new Set();
    for (const one of [method].flat()) methods.add(one);
    methodsByPath.set(url, methods);
  });
  return {
    answerOthers() {
      for (const [url, methods] of methodsByPath) {
        const allow = [...methods].sort();
        if (!methods.has('OPTIONS')) {
          app.route({
            url,
            method: 'OPTIONS',
            schema: { hide: true },
            onRequest: (_request, reply) => {
              reply
                .header('allow', [...allow, 'OPTIONS'].sort().join(', '))
                .code(204)
                .send();
            },
            handler: () => {},
          });
        }
        const others = METHODS.filter((method) => !methods.has(method));
        if (others.length === 0) continue;
        app.route({
          url,
          method: others,
          schema: { hide: true },
          // A body is of no interest here; reading it could only end in a less precise answer.
          onRequest: (request, reply) => {
            reply.header('allow', allow.join(', '));
            throw dialect.methodNotAllowed(request.method, allow);
          },
          handler: () => {},
        });
      }
    },
  };
}
