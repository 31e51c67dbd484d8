import { cached } from './cache.ts';
import { encode } from './encode.ts';
import { EndpointError } from './error.ts';
import { isSetting } from './options.ts';
import { compile, type Template } from './template.ts';

/** A compiled `url`. */
export interface Target {
  /** Scheme and host of an absolute url, else empty. */
  origin: string;
  /** What follows the origin or the base: a path, query and fragment. */
  template: Template;
  /** The parameters the template uses up, and where. */
  names: Map<string, number>;
}

/** Compiles the `url` option. The origin is settled before any value is known, so no value can change the host. */
export const targetOf = cached((url): Target => {
  // A host must be there and end before a value. Without a scheme there is none: `//host` is a path.
  const [origin = '', host] = /^[a-z][a-z\d+.-]*:\/\/([^/?#{}]+(?=[/?#]|$))?/i.exec(url) ?? [];
  if (origin && !host) throw new EndpointError('no host', 'url', origin.length);
  const names = new Map<string, number>();
  const template = compile(
    url.slice(origin.length),
    'url',
    /(\{[^{}]+\}|:[a-z]\w*)/,
    origin.length,
    (name, position) => !isSetting(name) && names.set(name, position),
  );
  return { origin: encode(origin, true), template, names };
});
