/**
 * How many wrong codes somebody may enter who has the password but not the factor. Wrong codes raise a level by one; a
 * day takes one off again, a right code none, else every sign-in of the owner would buy a thief more guesses. From the
 * level at which codes are not free any more the wait doubles, from half a minute to a day.
 *
 * So in `d` days at most `d + 18` codes of a factor are looked at, and `d + 23` of all factors of a user: in a year
 * fewer than 400. A guess is right by 3 in a million (six digits, three steps), which makes 0.12 % in a year, and six
 * hundred years for an even chance; for codes sent to a phone it is a third of that.
 */
export const FORGET_ONE_MS = 86_400_000;

const FIRST_WAIT_MS = 30_000;
const LONGEST_WAIT_MS = 86_400_000;
const DOUBLINGS = 12;

function waits(free: number): readonly number[] {
  const growing = Array.from({ length: DOUBLINGS + 1 }, (_, n) =>
    Math.min(FIRST_WAIT_MS * 2 ** n, LONGEST_WAIT_MS),
  );
  return [...Array.from({ length: free - 1 }, () => 0), ...growing];
}

/** Milliseconds to wait after the first, the second wrong code and so on of one factor; the last counts for all others. */
export const FACTOR_WAITS_MS = waits(5);

/** The same for all factors of a user together: deleting a factor and adding another wins nothing. */
export const USER_WAITS_MS = waits(10);

/** Whole seconds until codes are looked at again, 0 when they are. */
export function lockedSeconds(now: Date, ...until: readonly (number | null)[]): number {
  const last = Math.max(0, ...until.map((ms) => ms ?? 0));
  return Math.max(0, Math.ceil((last - now.getTime()) / 1000));
}
