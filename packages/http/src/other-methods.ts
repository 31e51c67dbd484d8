import type { ErrorDialect } from './errors.ts';
import type { App } from './types.ts';

/** Each pattern goes through the whole path: those of a megabyte take a fifth of a second, and nothing has such a path. */
const LONGEST_PATH = 8_192;

/**
 * Answers 405 with `Allow` on every path that has routes, for the methods it has none for (RFC 9110 §15.5.6), and
 * `OPTIONS` with the methods it has (§9.3.7). Call it before the routes are added, and after the hooks that such answers
 * go through as well.
 *
 * The paths are looked through only when no route was found: routes of their own for all those methods would be most of
 * what a start has to register.
 */
export function answerOtherMethods(app: App, dialect: ErrorDialect): void {
  const methodsByPath = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const methods = methodsByPath.get(url) ?? new Set();
    for (const one of [method].flat()) methods.add(one);
    methodsByPath.set(url, methods);
  });
  let paths: (readonly [RegExp, ReadonlySet<string>])[] | undefined;
  const methodsOf = (path: string) => {
    paths ??= [...methodsByPath].map(([url, methods]) => [patternOf(url), methods]);
    return paths.flatMap(([pattern, methods]) => (pattern.test(path) ? [...methods] : []));
  };
  const mayEndInSlash = app.initialConfig.routerOptions?.ignoreTrailingSlash ?? false;
  // Before the body is read: it is of no interest here, and could only end in a less precise answer.
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    const path = decoded(request.url.split(/[?#]/, 1)[0] ?? '');
    if (path.length > LONGEST_PATH) return done();
    const methods = methodsOf(mayEndInSlash ? path.replace(/(?<=.)\/$/, '') : path);
    if (methods.length === 0) return done();
    const allow = [...new Set(methods)].sort();
    if (request.method === 'OPTIONS') {
      void reply
        .header('allow', [...allow, 'OPTIONS'].sort().join(', '))
        .code(204)
        .send();
      return;
    }
    reply.header('allow', allow.join(', '));
    throw dialect.methodNotAllowed(request.method, allow);
  });
}

/** What a path must look like for a route of this URL. */
function patternOf(url: string): RegExp {
  const pieces = url.split(/(:\w+(?:\((?:[^()]|\([^()]*\))*\))?|\*)/).map((piece, index) => {
    if (index % 2 === 0) return piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    if (piece === '*') return '.*';
    const [, rule] = /\(\^?(.*?)\$?\)$/.exec(piece) ?? [];
    return rule === undefined ? '[^/]+?' : `(?:${rule})`;
  });
  // A path may have a line break in it.
  return new RegExp(`^${pieces.join('')}$`, 's');
}

function decoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
