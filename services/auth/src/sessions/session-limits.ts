import { type SessionLimits, sessionBounds } from '../rules/tokens/rotation.ts';
import type { AuthSettings } from '../settings.ts';
import type { LivingSessions } from '../store/refresh-tokens.ts';

/** What the settings say of how long sessions live. */
export function sessionLimits(settings: AuthSettings): SessionLimits {
  return {
    timeboxMs: settings.SESSIONS_TIMEBOX,
    inactivityMs: settings.SESSIONS_INACTIVITY_TIMEOUT,
    singlePerUser: settings.SESSIONS_SINGLE_PER_USER,
    lowAalMs: settings.SESSIONS_ALLOW_LOW_AAL,
  };
}

/** Which sessions go on at a moment. */
export function livingSessions(settings: AuthSettings, now: Date): LivingSessions {
  const limits = sessionLimits(settings);
  return {
    ...sessionBounds(limits, now),
    singlePerUser: limits.singlePerUser,
    tags: settings.SESSIONS_TAGS,
  };
}
