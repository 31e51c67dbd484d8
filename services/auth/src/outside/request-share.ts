import type { AuthSettings } from '../settings/index.ts';

/** Part of a request's time that may be spent with others: who asked is to hear what failed, and not 504. */
const SHARE = 0.8;

/** The milliseconds something outside may take that a request waits for. */
export function withinRequest(
  settings: Pick<AuthSettings, 'API_MAX_REQUEST_DURATION'>,
  wantedMs: number,
): number {
  return Math.max(1, Math.floor(Math.min(wantedMs, settings.API_MAX_REQUEST_DURATION * SHARE)));
}
