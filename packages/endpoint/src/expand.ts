import { cached } from './cache.ts';
import { encode } from './encode.ts';
import { EndpointError } from './error.ts';
import { compile, type Expression, type Template } from './template.ts';
import { isPlain, textOf } from './value.ts';

/** Values by the names of variables. */
export type Values = Readonly<Record<string, unknown>>;

// A hyphen is in no name of RFC 6570; those of APIs have some, so a url may.
const compiled = cached((template) => compile(template, 'template', /(\{[^{}-]+\})/));

/**
 * Expands a URI template by RFC 6570, all four levels. `null`, `undefined` and empty lists count as undefined;
 * malformed templates, nested values and prefixes of lists or maps are refused with an `EndpointError`.
 */
export function expand(template: string, variables: Values = {}): string {
  return expandTemplate(compiled(template), variables);
}

/** Expands a compiled template. */
export function expandTemplate(template: Template, values: Values, isStrict?: boolean): string {
  let result = '';
  for (const part of template)
    result += typeof part === 'string' ? part : expandExpression(part, values, false, isStrict);
  return result;
}

/** Expands one expression by the algorithm of RFC 6570 section 3.2.1; a bare query encodes names and commas too, and `q` keeps its plus signs. */
export function expandExpression(
  { sign, variables, position }: Expression,
  values: Values,
  isBare?: boolean,
  isStrict?: boolean,
): string {
  // The table of appendix A
  const separator = sign === '?' ? '&' : '+#'.includes(sign) ? ',' : sign;
  const isNamed = ';&'.includes(separator);
  const comma = isBare ? '%2C' : ',';
  const isReserved = !!sign && '+#'.includes(sign);
  const pair = (label: string, text: string) => (sign === ';' && text === '' ? label : `${label}=${text}`);

  let result = '';
  let lead = sign === '+' ? '' : sign;
  for (const [name, explode, limit] of variables) {
    // Own properties only: `{constructor}` is not what a prototype holds.
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    const isMap = isPlain(value);
    const isMany = isMap || Array.isArray(value);
    let text: string | undefined;
    for (const key of isMany ? Object.keys(value) : [name]) {
      const member = isMany ? (value as Values)[key] : value;
      if (member === undefined || member === null) continue;
      let item = textOf(member, name);
      if (limit) {
        if (isMany) throw new EndpointError('prefix of a list', name, position);
        item = prefix(item, limit, isReserved);
      }
      item = encode(item, isReserved);
      const label = isMap ? encode(key, isReserved) : name;
      if (isMap || (explode && isNamed)) item = explode ? pair(label, item) : label + comma + item;
      text = text === undefined ? item : text + (explode ? separator : comma) + item;
    }
    if (isStrict && !text && '+'.includes(sign)) throw new EndpointError('missing', name, position);
    if (text === undefined) continue; // section 2.3: an empty list or map is undefined
    result +=
      lead +
      (isNamed && !explode
        ? pair(isBare ? encode(name) : name, isBare && name === 'q' ? text.replaceAll('%2B', '+') : text)
        : text);
    lead = separator;
  }
  return result;
}

// Section 2.4.1 counts characters, not octets: a surrogate pair is one, and so are the triplets of one character
// where triplets are copied.
function prefix(text: string, limit: number, reserved: boolean): string {
  const characters = text.match(reserved ? /%[\da-f]{2}(?:%[89ab][\da-f])*|./gisu : /./gsu) ?? [];
  return characters.slice(0, limit).join('');
}
