import type { SessionLimits } from '../rules/tokens/rotation.ts';
import type { AuthSettings } from '../settings.ts';

/** What the settings say of how long sessions live. */
export function sessionLimits(settings: AuthSettings): SessionLimits {
  return {
    timeboxMs: settings.SESSIONS_TIMEBOX,
    inactivityMs: settings.SESSIONS_INACTIVITY_TIMEOUT,
    singlePerUser: settings.SESSIONS_SINGLE_PER_USER,
    lowAalMs: settings.SESSIONS_ALLOW_LOW_AAL,
  };
}
