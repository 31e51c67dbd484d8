import { createHash } from 'node:crypto';
import type { OutgoingHttp } from '@croft/http/outgoing';
import type { Clock } from '@croft/runtime';
import { type BloomFilter, createBloomFilter } from '../rules/passwords/bloom-filter.ts';
import type { AuthSettings } from '../settings.ts';
import { withinRequest } from './request-share.ts';

/** Knows passwords that were published by leaks. */
export interface LeakedPasswords {
  /**
   * Whether the password is in a published leak.
   * @throws Error when nobody can tell at the moment
   */
  isLeaked(password: string, signal?: AbortSignal): Promise<boolean>;
}

type LeakSettings = Pick<
  AuthSettings,
  | 'API_MAX_REQUEST_DURATION'
  | 'PASSWORD_HIBP_ENABLED'
  | 'PASSWORD_HIBP_URL'
  | 'PASSWORD_HIBP_USER_AGENT'
  | 'PASSWORD_HIBP_BLOOM_ENABLED'
  | 'PASSWORD_HIBP_BLOOM_ITEMS'
  | 'PASSWORD_HIBP_BLOOM_FALSE_POSITIVES'
>;

/** Who chooses a password waits for it. */
const TIMEOUT_MS = 3_000;
/** A prefix has some thousand hashes of 40 characters. */
const MAX_ANSWER_BYTES = 1_048_576;
/** k-anonymity: this much of the hash leaves the house, which some thousand leaked passwords share. */
const PREFIX_DIGITS = 5;

/**
 * Asks a service with the range interface of Have I Been Pwned (`GET <url>/range/<five digits of the SHA-1>`). Only
 * the prefix leaves the house, and the answer is padded, so that its length tells nothing either.
 * @returns undefined when `PASSWORD_HIBP_ENABLED` is off
 */
export function leakedPasswords(
  settings: LeakSettings,
  http: OutgoingHttp,
  clock: Clock,
): LeakedPasswords | undefined {
  if (!settings.PASSWORD_HIBP_ENABLED) return undefined;
  const base = settings.PASSWORD_HIBP_URL.replace(/\/+$/, '');
  const seen = settings.PASSWORD_HIBP_BLOOM_ENABLED ? new SeenRanges(settings, clock) : undefined;
  return {
    async isLeaked(password, signal) {
      // The service's choice of hash; what it is a hash of does not leave the house.
      const hash = createHash('sha1').update(password).digest('hex').toUpperCase();
      const prefix = hash.slice(0, PREFIX_DIGITS);
      const remembered = seen?.recall(prefix, hash);
      if (remembered !== undefined) return remembered;
      const request = {
        headers: {
          accept: 'text/plain',
          'user-agent': settings.PASSWORD_HIBP_USER_AGENT,
          'add-padding': 'true',
        },
        timeoutMs: withinRequest(settings, TIMEOUT_MS),
        maxBytes: MAX_ANSWER_BYTES,
      };
      const answer = await http(`${base}/range/${prefix}`, request, signal);
      if (answer.status !== 200)
        throw new Error(`the service for leaked passwords answered ${answer.status}`);
      const suffixes = readSuffixes(answer.text);
      seen?.remember(prefix, suffixes);
      return suffixes.has(hash.slice(PREFIX_DIGITS));
    },
  };
}

/** @throws Error for anything but an answer of the service, such as the page of a proxy: it would clear every password */
function readSuffixes(text: string): Set<string> {
  const suffixes = new Set<string>();
  for (const line of text.trim().split(/\r?\n/)) {
    const [, suffix, count] = /^([0-9A-Fa-f]{35}):(\d+)$/.exec(line.trim()) ?? [];
    if (suffix === undefined) throw new Error('the service for leaked passwords answered something else');
    // Padding has the count 0.
    if (!/^0+$/.test(count ?? '')) suffixes.add(suffix.toUpperCase());
  }
  return suffixes;
}

/** New leaks are published some times a year. */
const MAX_AGE_MS = 24 * 3_600_000;

/**
 * Ranges the service was asked about, so that it is not asked again: the prefixes by themselves, the thousands of
 * hashes in a Bloom filter of the size the operator chose. A full filter starts anew.
 */
class SeenRanges {
  readonly #settings: LeakSettings;
  readonly #clock: Clock;
  #filter: BloomFilter;
  /** When each prefix was asked about, in milliseconds since the epoch. */
  readonly #askedAt = new Map<string, number>();

  constructor(settings: LeakSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    this.#filter = this.#newFilter();
  }

  /** Whether the hash is leaked, if its range was asked about. */
  recall(prefix: string, hash: string): boolean | undefined {
    const askedAt = this.#askedAt.get(prefix);
    if (askedAt === undefined || this.#clock.now().getTime() - askedAt > MAX_AGE_MS) return undefined;
    return this.#filter.has(Buffer.from(hash, 'hex'));
  }

  remember(prefix: string, suffixes: ReadonlySet<string>): void {
    const limit = this.#settings.PASSWORD_HIBP_BLOOM_ITEMS;
    if (this.#filter.size + suffixes.size > limit) {
      this.#filter = this.#newFilter();
      this.#askedAt.clear();
    }
    if (suffixes.size > limit) return;
    for (const suffix of suffixes) this.#filter.add(Buffer.from(prefix + suffix, 'hex'));
    this.#askedAt.set(prefix, this.#clock.now().getTime());
  }

  #newFilter(): BloomFilter {
    const { PASSWORD_HIBP_BLOOM_ITEMS: items, PASSWORD_HIBP_BLOOM_FALSE_POSITIVES: share } = this.#settings;
    return createBloomFilter(items, share);
  }
}
