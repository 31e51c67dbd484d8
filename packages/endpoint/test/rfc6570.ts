/**
 * A literal transcription of RFC 6570 section 3, slow and without any idea of our own: one character at a time, one
 * sentence after the other. The real implementation must agree with it. Templates are taken to be well-formed.
 */
export function expandByTheBook(template: string, variables: Record<string, unknown>): string {
  let result = '';
  let i = 0;
  while (i < template.length) {
    if (template[i] === '{') {
      const end = template.indexOf('}', i);
      result += expression(template.slice(i + 1, end), variables);
      i = end + 1;
    } else {
      // 3.1 "If the literal character is allowed anywhere in the URI syntax (unreserved / reserved / pct-encoded), then
      // it is copied directly to the result string; otherwise, the pct-encoded triplets of its UTF-8 encoding."
      const triplet = /^%[0-9A-Fa-f]{2}/.exec(template.slice(i))?.[0];
      const character = triplet ?? String.fromCodePoint(template.codePointAt(i) as number);
      result += triplet ?? allow(character, true);
      i += character.length;
    }
  }
  return result;
}

// Appendix A: first, sep, named, ifemp, allow
const table: Record<string, [string, string, boolean, string, boolean]> = {
  '': ['', ',', false, '', false],
  '+': ['', ',', false, '', true],
  '.': ['.', '.', false, '', false],
  '/': ['/', '/', false, '', false],
  ';': [';', ';', true, '', false],
  '?': ['?', '&', true, '=', false],
  '&': ['&', '&', true, '=', false],
  '#': ['#', ',', false, '', true],
};

const UNRESERVED = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~';
const RESERVED = ":/?#[]@!$&'()*+,;=";

function allow(character: string, reserved: boolean): string {
  if (UNRESERVED.includes(character) || (reserved && RESERVED.includes(character))) return character;
  return [...new TextEncoder().encode(character)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('');
}

function encode(value: string, reserved: boolean): string {
  let result = '';
  for (let i = 0; i < value.length; ) {
    const triplet = reserved ? /^%[0-9A-Fa-f]{2}/.exec(value.slice(i))?.[0] : undefined;
    const character = triplet ?? String.fromCodePoint(value.codePointAt(i) as number);
    result += triplet ?? allow(character, reserved);
    i += character.length;
  }
  return result;
}

function expression(inner: string, variables: Record<string, unknown>): string {
  const operator = '+./;?&#'.includes(inner.charAt(0)) ? inner.charAt(0) : '';
  const [first, sep, named, ifemp, reserved] = table[operator] as (typeof table)[''];
  let result = '';
  let isFirst = true;
  for (const varspec of inner.slice(operator.length).split(',')) {
    const explode = varspec.endsWith('*');
    const [varname = '', maxLength] = (explode ? varspec.slice(0, -1) : varspec).split(':');
    const value = variables[varname];
    const members = membersOf(value);
    // 3.2.1 "If the variable value is undefined, skip"; 2.3 so is a list without members, a map without defined values
    if (value === undefined || value === null || (typeof value === 'object' && members.length === 0))
      continue;
    result += isFirst ? first : sep;
    isFirst = false;
    if (typeof value === 'string') {
      if (named) {
        result += encode(varname, true);
        if (value === '') {
          result += ifemp;
          continue;
        }
        result += '=';
      }
      result += encode(maxLength ? Array.from(value).slice(0, Number(maxLength)).join('') : value, reserved);
    } else if (!explode) {
      const joined = members.flatMap(([key, member]) => (Array.isArray(value) ? [member] : [key, member]));
      const text = joined.map((part) => encode(part, reserved)).join(',');
      if (named) result += encode(varname, true) + (text === '' ? ifemp : '=');
      result += text;
    } else {
      result += members
        .map(([key, member]) => {
          const text = encode(member, reserved);
          const name = Array.isArray(value) ? encode(varname, true) : encode(key, reserved);
          if (named) return text === '' ? name + ifemp : `${name}=${text}`;
          return Array.isArray(value) ? text : `${name}=${text}`;
        })
        .join(sep);
    }
  }
  return result;
}

function membersOf(value: unknown): [string, string][] {
  if (typeof value !== 'object' || value === null) return [];
  return (Object.entries(value) as [string, string | null | undefined][]).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== null,
  );
}
