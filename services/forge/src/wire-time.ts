/** A time as answers spell it: RFC 3339 in UTC, whole seconds. */
export function wireTime(time: Date): string {
  return `${time.toISOString().slice(0, -5)}Z`;
}

/** The same where there may be none. */
export const wireTimeOrNull = (time: Date | null) => (time === null ? null : wireTime(time));

/** How Go spells a time that is not set; clients of the reference compare with it. */
export const NO_TIME = '0001-01-01T00:00:00Z';
