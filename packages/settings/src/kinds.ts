import { isIP } from 'node:net';
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

/** A number with or without a fraction, between `min` and `max`. */
export function float(min = 0, max = Number.MAX_VALUE): Kind<number> {
  return {
    label: max === Number.MAX_VALUE ? `number from ${min}` : `number ${min}–${max}`,
    parse(value) {
      if (!/^-?\d+(\.\d+)?(e-?\d+)?$/i.test(value)) throw new Error('expected a number');
      const number = Number(value);
      if (number < min || number > max) {
        throw new Error(
          max === Number.MAX_VALUE
            ? `expected a number from ${min}`
            : `expected a number from ${min} to ${max}`,
        );
      }
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

/** What a timer can be set to; beyond it Node's fire at once. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

/** A duration that something waits for again and again, or gives up after, in milliseconds: never none, and at most 24 days. */
export function wait(leastMs: number): Kind<number> {
  const least = leastMs < 1000 ? `${leastMs}ms` : `${leastMs / 1000}s`;
  return {
    label: `${duration.label}, ${least} to 24 days`,
    parse(value) {
      const milliseconds = duration.parse(value);
      if (milliseconds < leastMs || milliseconds > LONGEST_WAIT_MS)
        throw new Error(`expected a duration from ${least} to 24 days (576h)`);
      return milliseconds;
    },
  };
}

/** An absolute http or https address that paths are put after, without a trailing slash. */
export const url: Kind<string> = {
  label: 'URL',
  parse(value) {
    const parsed = URL.parse(value);
    if (parsed === null || !/^https?:$/.test(parsed.protocol))
      throw new Error('expected an http(s):// address');
    if (/[?#]/.test(value))
      throw new Error('expected an address without ? and #, because paths are put after it');
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

/** So many events in so long a time. */
export interface Rate {
  readonly events: number;
  readonly perMs: number;
}

const HOUR_MS = 3_600_000;

/** How often something may happen: `30` and `10.5` count an hour, `100/24h` says the time itself. */
export const rate: Kind<Rate> = {
  label: 'rate (`30` an hour, `100/24h`)',
  parse(value) {
    const [, events, per] = /^(\d{1,15}(?:\.\d{1,9})?)(?:\/(.+))?$/s.exec(value) ?? [];
    const perMs = per === undefined ? HOUR_MS : parseDuration(per);
    if (events === undefined || perMs === undefined || perMs <= 0) {
      throw new Error('expected a rate such as 30 (an hour) or 100/24h');
    }
    return { events: Number(events), perMs };
  },
};

/** Names with values, `a:1,b:2`; a name ends at the first colon, blanks around names and values are dropped. */
export const pairs: Kind<ReadonlyMap<string, string>> = {
  label: 'comma-separated list of `name:value`',
  parse(value) {
    const found = new Map<string, string>();
    for (const item of list.parse(value)) {
      const [, name, content] = /^([^:]+):(.+)$/s.exec(item) ?? [];
      if (name === undefined || content === undefined) throw new Error('expected name:value,name:value');
      if (found.has(name.trim())) throw new Error(`expected every name once, ${name.trim()} is there twice`);
      found.set(name.trim(), content.trim());
    }
    return found;
  },
};

/** A moment as RFC 3339 writes it, with its offset from UTC. */
export const timestamp: Kind<Date> = {
  label: 'time (`2030-01-31T12:00:00Z`)',
  parse(value) {
    const shape = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i.exec(value);
    const moment = new Date(value);
    // Date.parse takes 30 February for 1 March.
    const days = shape === null ? 0 : new Date(Date.UTC(Number(shape[1]), Number(shape[2]), 0)).getUTCDate();
    if (shape === null || Number.isNaN(moment.getTime()) || Number(shape[3]) > days) {
      throw new Error('expected a time such as 2030-01-31T12:00:00Z');
    }
    return moment;
  },
};

/** An IPv4 or IPv6 address. */
export const ipAddress: Kind<string> = {
  label: 'IP address',
  parse(value) {
    if (isIP(value) === 0) throw new Error('expected an IP address');
    return value;
  },
};

/** Labels of letters, digits, `-` and `_`, the last of which names of containers have. */
const HOST_NAME = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/i;
const MAX_HOST_NAME = 253;

/** Where a server listens: the name of a host, or an IPv4 or IPv6 address. */
export const host: Kind<string> = {
  label: 'host name or IP address',
  parse(value) {
    const isName = value.length <= MAX_HOST_NAME && HOST_NAME.test(value);
    if (isIP(value) === 0 && !isName)
      throw new Error('expected a host name such as localhost, or an IP address such as 127.0.0.1 or ::');
    return value;
  },
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
