import { cached } from './cache.ts';
import { encode } from './encode.ts';
import { EndpointError } from './error.ts';
import { compile, type Expression, type Template } from './template.ts';
import { isPlain, textOf } from './value.ts';

/** Values by the names of variables. */
export type Values = Readonly<Record<string, unknown>>;

const compiled = cached((template) => compile(template, 'template'));

/**
 * Expands a URI template by RFC 6570, all four levels. `null`, `undefined` and empty lists count as undefined;
 * malformed templates, nested values and prefixes of lists or maps are refused with an `EndpointError`.
 */
export function expand(template: string, variables: Values = {}): string {
  return expandTemplate(compiled(template), variables);
}

/** Expands a compiled template. */
export function expandTemplate(template: Template, values: Values): string {
  let result = '';
  for (const part of template) result += typeof part === 'string' ? part : expandExpression(part, values);
  return result;
}

/** Expands one expression by the algorithm of RFC 6570 section 3.2.1. */
export function expandExpression({ sign, variables, position }: Expression, values: Values): string {
  // The table of appendix A
  const separator = sign === '?' ? '&' : '+#'.includes(sign) ? ',' : sign;
  const isNamed = ';&'.includes(separator);
  const isReserved = sign === '+' || sign === '#';
  const pair = (label: string, text: string) => (sign === ';' && text === '' ? label : `${label}=${text}`);

  let result = '';
  let lead = sign === '+' ? '' : sign;
  for (const [name, explode, limit] of variables) {
    // Own properties only: `{constructor}` is not what a prototype holds.
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined || value === null) continue;
    const isMap = isPlain(value);
    let text: string;
    if (isMap || Array.isArray(value)) {
      if (limit) throw new EndpointError('prefix of a list', name, position);
      const members: string[] = [];
      for (const key of Object.keys(value)) {
        const member = (value as Values)[key];
        if (member === undefined || member === null) continue;
        const item = encode(textOf(member, name), name, isReserved);
        const label = isMap ? encode(key, name, isReserved) : name;
        members.push(explode && (isMap || isNamed) ? pair(label, item) : isMap ? `${label},${item}` : item);
      }
      if (!members.length) continue; // section 2.3: an empty list or map is undefined
      text = members.join(explode ? separator : ',');
      if (isNamed && !explode) text = pair(name, text);
    } else {
      text = textOf(value, name);
      text = encode(limit ? prefix(text, limit, isReserved) : text, name, isReserved);
      if (isNamed) text = pair(name, text);
    }
    result += lead + text;
    lead = separator;
  }
  return result;
}

// Section 2.4.1 counts characters, not octets: a surrogate pair is one, and so are the triplets of one character
// where triplets are copied.
function prefix(text: string, limit: number, reserved: boolean): string {
  const characters = (reserved && text.match(/%[\da-f]{2}(?:%[89ab][\da-f])*|./gisu)) || Array.from(text);
  return characters.slice(0, limit).join('');
}
