const DAY_MS = 86_400_000;
/** More days than a forge is old, and little memory. */
const MAX_DATES = 10_000;
const dates = new Map<number, string>();
const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));

/** A time as answers spell it: RFC 3339 in UTC, whole seconds. A list has hundreds, and `toISOString` takes 2 µs. */
export function wireTime(time: Date): string {
  const day = Math.floor(time.getTime() / DAY_MS);
  const seconds = Math.floor((time.getTime() - day * DAY_MS) / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return `${dateOf(day)}T${TWO_DIGITS[hours]}:${TWO_DIGITS[minutes]}:${TWO_DIGITS[seconds % 60]}Z`;
}

/** @throws RangeError for a time that is none */
function dateOf(day: number): string {
  const known = dates.get(day);
  if (known !== undefined) return known;
  const date = new Date(day * DAY_MS).toISOString().split('T', 1).join();
  if (dates.size === MAX_DATES) dates.clear();
  dates.set(day, date);
  return date;
}

/** The same where there may be none. */
export const wireTimeOrNull = (time: Date | null) => (time === null ? null : wireTime(time));

/** How Go spells a time that is not set; clients of the reference compare with it. */
export const NO_TIME = '0001-01-01T00:00:00Z';
