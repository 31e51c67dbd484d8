import { badRequest, unacceptable } from '../../failures.ts';

/** Ten years of seconds: nobody works longer on an issue. */
export const MAX_SECONDS = 10 * 366 * 24 * 3600;

/** @throws 400 for nothing and less, 422 for more than anybody can have spent */
export function checkSeconds(seconds: number): number {
  if (seconds < 1) throw badRequest('time must be positive');
  if (seconds > MAX_SECONDS) throw unacceptable(`[Time]: Max(${MAX_SECONDS})`);
  return seconds;
}
