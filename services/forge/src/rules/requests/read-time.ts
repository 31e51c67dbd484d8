import { unacceptable } from '../../failures.ts';

/** RFC 3339; the seconds may be missing, and a space may stand for the T. */
const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/i;

/** A day, which begins in UTC. */
const DAY = /^\d{4}-\d\d-\d\d$/;

/**
 * A time that a query names; what is absent or empty is none. A plus sign that nobody encoded has become a space.
 * @param days whether a day alone is one, too
 * @throws 422 for something that is no time
 */
export function readQueryTime(
  name: string,
  text: string | undefined,
  { days = false } = {},
): Date | undefined {
  if (text === undefined || text === '') return undefined;
  const given = text.replace(/ (\d\d:\d\d)$/, '+$1');
  const time = new Date(TIME.test(given) || (days && DAY.test(given)) ? given.replace(' ', 'T') : Number.NaN);
  if (Number.isNaN(time.getTime()))
    throw unacceptable(`[${name}]: expected a time such as 2026-01-31T00:00:00Z`);
  return time;
}

/** The times of a list's `since` and `before`, both ends included. */
export function readTimeRange(query: { since?: string | undefined; before?: string | undefined }): {
  since: Date | undefined;
  before: Date | undefined;
} {
  return { since: readQueryTime('since', query.since), before: readQueryTime('before', query.before) };
}

/** How the first year and the first that has five digits begin. */
const [FIRST, BEYOND] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('+010000-01-01T00:00:00Z')];

/**
 * Whether a time of a body can be told again: RFC 3339 has years of four digits, and the year 0 is none of the database's.
 * So it is with the end of its day in its own zone, which a deadline is stored as, both in UTC. What is no time, however long, is
 * not judged.
 */
export function canBeTold(text: string): boolean {
  const endOfDay = text.replace(/T[^T]*?(Z|[+-]\d\d:\d\d)$/i, 'T23:59:59$1');
  const times = [text, endOfDay].map((time) => Date.parse(time));
  return isNoTime(text) || !times.some((time) => time < FIRST || time >= BEYOND);
}

/** Go's zero time, in whatever zone. */
const isNoTime = (text: string) => text.startsWith('0001-01-01');

/**
 * A time of a body, which the schema has validated; undefined for Go's zero time, which clients send for none. Of
 * fractions of seconds nothing is kept.
 */
export function readBodyTime(text: string | null | undefined): Date | undefined {
  if (!text || isNoTime(text)) return undefined;
  const time = new Date(text);
  time.setMilliseconds(0);
  return time;
}
