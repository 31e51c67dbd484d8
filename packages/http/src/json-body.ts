import { readForm } from './form-body.ts';
import type { App } from './types.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a body under `application/x-www-form-urlencoded` is read as one, its fields as texts. */
    form?: boolean;
  }
}

/** The body is no JSON. */
export class MalformedBody extends Error {
  override readonly name = 'MalformedBody';
}

/**
 * Reads every body as JSON unless a route registered another parser or takes forms: clients of both reference servers
 * send JSON under all kinds of content types, or none. An empty body is no body.
 */
export function parseJsonBodies(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(['application/json', '*'], { parseAs: 'string' }, (request, body, done) => {
    if (body === '') return done(null, undefined);
    try {
      if (request.routeOptions.config.form === true) {
        const form = readForm(request.headers['content-type'], body as string);
        if (form !== undefined) return done(null, form);
      }
      done(null, JSON.parse(body as string, dropPrototype));
    } catch (error) {
      done(new MalformedBody((error as Error).message));
    }
  });
}

/** A `__proto__` key would become the prototype of whatever the object is copied into. */
function dropPrototype(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value;
}
