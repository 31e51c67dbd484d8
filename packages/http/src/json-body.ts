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
      done(null, parseJson(body as string));
    } catch (error) {
      done(new MalformedBody((error as Error).message));
    }
  });
}

/** As it may be spelled. */
const PROTOTYPE = /__proto__|\\u00/;
/** Objects and arrays inside one another. What works through a body calls itself for each, and the stack ends at some thousands. */
const MAX_DEPTH = 500;

/**
 * A `__proto__` key would become the prototype of whatever the object is copied into. To look at every value while it is parsed
 * takes fifteen times as long as to parse it.
 */
function parseJson(text: string): unknown {
  if (isTooDeep(text))
    throw new MalformedBody(`more than ${MAX_DEPTH} objects and arrays inside one another`);
  const whole: unknown = JSON.parse(text);
  if (PROTOTYPE.test(text)) dropPrototypes(whole);
  return whole;
}

function dropPrototypes(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  delete (value as Record<string, unknown>)['__proto__'];
  for (const inner of Object.values(value)) dropPrototypes(inner);
}

/** Also where it is no JSON; brackets in texts do not count. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfText(text, at);
    else if (code === BRACKET || code === BRACE) depth++;
    else if (code === BRACKET + 2 || code === BRACE + 2) depth--;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

const [QUOTE, BACKSLASH, BRACKET, BRACE] = [0x22, 0x5c, 0x5b, 0x7b];

/** Where the text ends that begins with this quote. */
function endOfText(text: string, begin: number): number {
  for (let at = text.indexOf('"', begin + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}
