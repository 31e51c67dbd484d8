import { encode } from './encode.ts';
import { EndpointError, refuse } from './error.ts';

/** One variable of an expression: `name`, `name*` or `name:limit`; a limit of 0 is none. */
export type Variable = [name: string, explode: boolean, limit: number];

/** One `{…}` of a template. */
export interface Expression {
  /** The operator, empty for simple expansion. */
  sign: string;
  variables: Variable[];
  /** Where it begins in the template; a bare query is in none. */
  position?: number;
}

/** A compiled template: encoded literals, which may be empty, and expressions in turn; it begins and ends with a literal. */
export type Template = (string | Expression)[];

// varname [ ":" max-length / "*" ] of RFC 6570 sections 2.3 and 2.4, with hyphens in names. No two parts of it match the same
// character, so it reads a text once.
const varspec = /^(?!\.)((?:\.?(?:[\w-]|%[\da-f]{2}))+)(\*|:[1-9]\d{0,3})?$/i;

/**
 * Compiles a template whose expressions are what `pattern` captures: `{…}` or `:name`. A malformed one is refused with
 * the position of the fault (RFC 6570 section 2), moved by `position`.
 */
export function compile(
  text: string,
  option: string,
  pattern: RegExp,
  position = 0,
  take?: (name: string, position: number) => unknown,
): Template {
  return text.split(pattern).map((piece, i) => {
    const start = position;
    position += piece.length;
    if (!(i % 2)) {
      refuse(/[{}]/, piece, 'malformed', option, start);
      return encode(piece, true);
    }
    const [, sign, inner] = /^.([+#./;?&]?)([^}]*)/.exec(piece) as unknown as [string, string, string];
    const variables = inner.split(',').map((spec): Variable => {
      const [, name, modifier = ''] = varspec.exec(spec) ?? [];
      if (!name || (take && !take(name, start))) throw new EndpointError('malformed', option, start);
      return [name, modifier === '*', Number(modifier.slice(1))];
    });
    return { sign, variables, position: start };
  });
}
