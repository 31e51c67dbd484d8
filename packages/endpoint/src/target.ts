import { cached } from './cache.ts';
import { encode } from './encode.ts';
import { EndpointError } from './error.ts';
import { isParameter } from './options.ts';
import { compile, type Expression, type Template } from './template.ts';

/** A compiled `url`. */
export interface Target {
  /** Scheme and host of an absolute url, else empty. */
  origin: string;
  /** What follows the origin or the base: a path with its slash, query and fragment. */
  template: Template;
  /** The parameters the template uses up. */
  names: Set<string>;
}

/** Compiles the `url` option. The origin is settled before any value is known, so no value can change the host. */
export const targetOf = cached((url): Target => {
  // A host must be there and end before a value: at `/`, `?`, `#`, the end, or `{/x}`, `{?x}`, `{#x}` up to the end.
  const [origin = '', host] =
    /^[a-z][a-z\d+.-]*:\/\/([^/?#{}]+(?=[/?#]|(\{[/?#][^{}]*\})*$))?/i.exec(url) ?? [];
  if (origin && !host) throw new EndpointError('no fixed host', 'url', origin.length);
  // Without a scheme there is no host: `//host` is a path.
  const path = origin ? url.slice(origin.length) : url.replace(/^\/*/, '/');
  const template: Template = [];
  const names = new Set<string>();
  let position = -1;
  const add = (expression: Expression) => {
    expression.variables = expression.variables.filter(([name]) => isParameter(name));
    for (const [name] of expression.variables) names.add(name);
    template.push(expression);
  };
  for (const part of compile(path, 'url', url.length - path.length)) {
    if (typeof part !== 'string') add(part);
    else {
      // `:name` is a placeholder too; a colon before a digit is not.
      part.split(/:([a-z_]\w*)/i).forEach((text, i) => {
        if (i % 2) {
          position = url.indexOf(`:${text}`, position + 1);
          add({ sign: '', variables: [[text, false, 0]], position });
        } else if (text) template.push(text);
      });
    }
  }
  return { origin: encode(origin, 'url', true), template, names };
});
