import { encode } from './encode.ts';
import { EndpointError } from './error.ts';

/** One variable of an expression: `name`, `name*` or `name:limit`; a limit of 0 is none. */
export type Variable = [name: string, explode: boolean, limit: number];

/** One `{…}` of a template. */
export interface Expression {
  /** The operator, empty for simple expansion. */
  sign: string;
  variables: Variable[];
  /** Where it begins in the template. */
  position: number;
}

/** A compiled template: encoded literals and expressions in their order. */
export type Template = (string | Expression)[];

// varname [ ":" max-length / "*" ] of RFC 6570 section 2.3 and 2.4. Nothing follows that could fail, so it never
// goes back further than one dot.
const varspec = /((?:\w|%[\da-f]{2})+(?:\.(?:\w|%[\da-f]{2})+)*)(\*|:[1-9]\d{0,3})?/iy;

/** Compiles a template in one pass; a malformed one is refused with the position of the fault (RFC 6570 section 2), moved by `offset`. */
export function compile(text: string, option: string, offset = 0): Template {
  const template: Template = [];
  let i = 0;

  const check = (isRight: unknown) => {
    if (!isRight) throw new EndpointError('malformed', option, i + offset);
  };

  for (;;) {
    const from = i;
    for (; i < text.length && text[i] !== '{'; i++) check(text[i] !== '}');
    if (i > from) template.push(encode(text.slice(from, i), option, true));
    if (i === text.length) return template;
    const position = offset + i++;
    const sign = '+#./;?&'.includes(text[i] ?? ' ') ? text.charAt(i++) : '';
    const variables: Variable[] = [];
    do {
      varspec.lastIndex = i;
      const [, name, modifier] = varspec.exec(text) ?? [];
      check(name);
      variables.push([name as string, modifier === '*', Number(modifier?.slice(1) ?? 0)]);
      i = varspec.lastIndex;
    } while (text[i] === ',' && i++);
    check(text[i] === '}');
    i++;
    template.push({ sign, variables, position });
  }
}
