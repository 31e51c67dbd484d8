import * as failures from '../../failures.ts';

/** Nanoseconds of each unit Go writes durations in; µ has two code points. */
const NANOSECONDS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};

/** Go keeps a duration in 63 bits of nanoseconds, some 292 years. */
const MAX_NANOSECONDS = 2 ** 63;
const DURATION = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;
/** Longer ones are no durations but attempts at the parser. */
const MAX_CHARACTERS = 100;

/**
 * Until when a user is banned by a `ban_duration`: a duration as Go writes it (`24h`, `1h30m`, `1.5h`), or `none`.
 * @returns undefined for the empty text, which changes nothing, and null for `none`, which lifts a ban
 * @throws Failure when it is neither
 */
export function decideBan(text: string, now: Date): Date | null | undefined {
  if (text === '') return undefined;
  if (text === 'none') return null;
  return new Date(now.getTime() + milliseconds(text));
}

function milliseconds(text: string): number {
  if (/^[+-]?0$/.test(text)) return 0;
  if (text.length > MAX_CHARACTERS || !DURATION.test(text)) throw invalid(text);
  let nanoseconds = 0;
  for (const [, count, unit = ''] of text.matchAll(/(\d+\.?\d*|\.\d+)([a-zµμ]+)/g)) {
    nanoseconds += Number(count) * (NANOSECONDS[unit] ?? 0);
  }
  if (nanoseconds >= MAX_NANOSECONDS) throw invalid(text);
  return (text.startsWith('-') ? -nanoseconds : nanoseconds) / 1e6;
}

function invalid(text: string): Error {
  return failures.banDurationInvalid(text.slice(0, MAX_CHARACTERS));
}
