import { Secret } from './secret.ts';

/** How the text of a variable becomes a value; `parse` throws an Error that says what was expected. */
export interface Kind<T> {
  /** How the kind is called in the generated documentation. */
  readonly label: string;
  parse(text: string): T;
}

const TRUE = new Set(['true', '1', 't', 'yes', 'on']);
const FALSE = new Set(['false', '0', 'f', 'no', 'off']);

/** Any text, taken as it is. */
export const text: Kind<string> = { label: 'text', parse: (value) => value };

/** Text that must never be printed. */
export const secret: Kind<Secret> = { label: 'secret text', parse: (value) => new Secret(value) };

/** `true` or `false`, with the spellings of Go's and YAML's parsers, because people bring their old files. */
export const boolean: Kind<boolean> = {
  label: 'true or false',
  parse(value) {
    const word = value.toLowerCase();
    if (TRUE.has(word)) return true;
    if (FALSE.has(word)) return false;
    throw new Error('expected true or false');
  },
};

/** A whole number between `min` and `max`. */
export function integer(min = 0, max = Number.MAX_SAFE_INTEGER): Kind<number> {
  return {
    label: max === Number.MAX_SAFE_INTEGER ? `whole number from ${min}` : `whole number ${min}–${max}`,
    parse(value) {
      const number = Number(value);
      if (!/^-?\d+$/.test(value) || !Number.isSafeInteger(number)) throw new Error('expected a whole number');
      if (number < min || number > max) throw new Error(`expected a number from ${min} to ${max}`);
      return number;
    },
  };
}

/** A TCP port; 0 lets the system choose a free one. */
export const port: Kind<number> = { label: 'port', parse: (value) => integer(0, 65_535).parse(value) };

/** Milliseconds of each unit a duration may use, as in Go's `time.ParseDuration`. */
const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Milliseconds in a text such as `90s`, `1h30m` or `250ms`; undefined when it is none. */
export function parseDuration(value: string): number | undefined {
  if (value === '0') return 0;
  let total = 0;
  let rest = value;
  while (rest !== '') {
    const part = /^(\d{1,15}(?:\.\d{1,9})?)(ns|us|µs|ms|s|m|h)/.exec(rest);
    if (part === null) return undefined;
    total += Number(part[1]) * (UNIT_MS[part[2] as string] as number);
    rest = rest.slice(part[0].length);
  }
  return value === '' ? undefined : total;
}

/** A duration in milliseconds; a bare number counts seconds (the contract's older variables are plain seconds). */
export const duration: Kind<number> = {
  label: 'duration (`90s`, `1h30m`; a bare number is seconds)',
  parse(value) {
    const milliseconds = /^\d{1,12}$/.test(value) ? Number(value) * 1000 : parseDuration(value);
    if (milliseconds === undefined) throw new Error('expected a duration such as 90s, 15m or 1h30m');
    return milliseconds;
  },
};

/** An absolute http or https address, without a trailing slash. */
export const url: Kind<string> = {
  label: 'URL',
  parse(value) {
    const parsed = URL.parse(value);
    if (parsed === null || !/^https?:$/.test(parsed.protocol))
      throw new Error('expected an http(s):// address');
    return value.replace(/\/$/, '');
  },
};

/** Values separated by commas; blanks around them and empty ones are dropped. */
export const list: Kind<readonly string[]> = {
  label: 'comma-separated list',
  parse: (value) =>
    value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
};

/** One of the given words. */
export function choice<const T extends string>(...words: readonly T[]): Kind<T> {
  return {
    label: words.map((word) => `\`${word}\``).join(', '),
    parse(value) {
      const found = words.find((word) => word === value);
      if (found === undefined) throw new Error(`expected one of ${words.join(', ')}`);
      return found;
    },
  };
}
