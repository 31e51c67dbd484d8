import { isIP } from 'node:net';
import { duration, type Kind, list, pairs } from '@croft/settings';
import { compileGlob, splitPatterns } from '../rules/redirects/glob.ts';

/** An absolute address of any scheme, kept to the letter: single-page applications end in `/#/`. */
export const siteAddress: Kind<string> = {
  label: 'absolute URL',
  parse(value) {
    if (!URL.canParse(value)) throw new Error('expected an absolute address such as https://example.org');
    return value;
  },
};

/** Glob patterns, refused here when malformed, so that a typing error cannot silently permit or forbid. */
export const patterns: Kind<readonly string[]> = {
  label: 'comma-separated list of URLs with `*`, `**`, `?`, `[abc]`, `{a,b}`',
  parse(value) {
    const parts = splitPatterns(value);
    for (const part of parts) compileGlob(part);
    return parts;
  },
};

/** Sets separated by `:`, a literal one escaped by a backslash (as in GoTrue). */
export const characterSets: Kind<readonly string[]> = {
  label: 'sets of characters separated by `:` (`\\:` is a colon)',
  parse: (value) =>
    value
      .split(/(?<!\\):/)
      .map((set) => set.replaceAll('\\:', ':'))
      .filter((set) => set !== ''),
};

/** An http(s) address kept to the letter: providers compare a redirect URI character by character. */
export const exactUrl: Kind<string> = {
  label: 'URL, used to the letter',
  parse(value) {
    if (!/^https?:$/.test(URL.parse(value)?.protocol ?? ''))
      throw new Error('expected an http(s):// address');
    return value;
  },
};

/** Proxies whose word about the client's address counts: words, addresses and networks, or how many they are. */
export const proxies: Kind<readonly string[]> = {
  label: 'comma-separated list of `loopback`, `private`, addresses, networks (`10.0.0.0/8`); or a number',
  parse(value) {
    const parts = list.parse(value);
    if (parts.length === 1 && /^\d{1,2}$/.test(parts[0] ?? '')) return parts;
    for (const part of parts) {
      if (part !== 'loopback' && part !== 'private' && !isNetwork(part)) {
        throw new Error(`expected loopback, private, an address or a network such as 10.0.0.0/8 at ${part}`);
      }
    }
    return parts;
  },
};

function isNetwork(text: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && (bits === undefined || Number(bits) <= (family === 4 ? 32 : 128));
}

/** Headers of every mail: a JSON object of names with a text or several. */
export const mailHeaders: Kind<Readonly<Record<string, readonly string[]>>> = {
  label: 'JSON object of headers (`{"X-Team":["a"]}`)',
  parse(value) {
    const wrong = new Error('expected a JSON object such as {"X-Team":["a"]}');
    let given: unknown;
    try {
      given = JSON.parse(value);
    } catch {
      throw wrong;
    }
    if (typeof given !== 'object' || given === null || Array.isArray(given)) throw wrong;
    return Object.fromEntries(
      Object.entries(given).map(([name, content]: [string, unknown]) => {
        const values: readonly unknown[] = Array.isArray(content) ? content : [content];
        if (!/^[!-9;-~]{1,76}$/.test(name) || !values.every(isHeaderText)) throw wrong;
        return [name, values];
      }),
    );
  },
};

function isHeaderText(value: unknown): value is string {
  return typeof value === 'string' && !/[\r\n\0]/.test(value);
}

/** Phone numbers with the one code each of them takes; numbers are kept as they are stored, digits only. */
export const testCodes: Kind<ReadonlyMap<string, string>> = {
  label: 'comma-separated list of `phone:code`',
  parse(value) {
    const codes = new Map<string, string>();
    for (const [phone, code] of pairs.parse(value)) {
      const digits = phone.replace(/^\+/, '').replaceAll(' ', '');
      if (!/^[1-9]\d{1,14}$/.test(digits) || !/^\d{4,10}$/.test(code)) {
        throw new Error('expected phone numbers with codes such as 14155552671:123456');
      }
      codes.set(digits, code);
    }
    return codes;
  },
};

/** An issuer of ID tokens, and the clients its tokens may be meant for. */
export interface IdTokenIssuer {
  /** To the letter, as tokens name it. */
  readonly issuer: string;
  readonly clientIds: readonly string[];
}

/** Issuers whose ID tokens are taken; a token that was made for somebody else's client must not open an account here. */
export const idTokenIssuers: Kind<readonly IdTokenIssuer[]> = {
  label:
    'comma-separated list of issuers, each followed by its client ids (`https://issuer.example client-1 client-2`)',
  parse: (value) =>
    list.parse(value).map((entry) => {
      const [issuer = '', ...clientIds] = entry.split(/\s+/);
      const address = URL.parse(issuer);
      const isLocal = address !== null && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(address.hostname);
      if (address?.protocol !== 'https:' && !(address?.protocol === 'http:' && isLocal)) {
        throw new Error('expected issuers such as https://issuer.example (http:// on this machine only)');
      }
      if (address.search !== '' || address.hash !== '' || address.username !== '') {
        throw new Error('an issuer has no query, fragment or user name');
      }
      return { issuer, clientIds };
    }),
};

/** A duration that is raised to a least one. */
export function durationFrom(leastMs: number): Kind<number> {
  return {
    label: `${duration.label}, ${leastMs / 1000} s at least`,
    parse: (value) => Math.max(leastMs, duration.parse(value)),
  };
}
