/** Tabs of one program may present the same refresh token at once. */
const TABS_MS = 60_000;

/** What is known of a refresh token that is presented. */
export interface PresentedRefresh {
  expiresAt: Date;
  /** When others were first made for it. */
  refreshedAt: Date | null;
  /** Whether others took its place while nobody had used it. */
  isReplaced: boolean;
  /** Whether any of those that were made for it was used; null when there are none (any more). */
  hasUsedSuccessor: boolean | null;
  /** Whether the program showed a secret as well. */
  isConfidential: boolean;
}

/**
 * What comes of a refresh token: tokens beside those that were made for it before (`yields`), or in their place
 * (`yields-again`); nothing (`expired`); or the end of the sign-in, as somebody else has it too (`stolen`, RFC 9700
 * §4.14.2). Of programs with a secret it may be used as often as they like, as in the reference. Those without one may
 * have lost an answer, however long ago: as long as nobody used what was in it, there is nobody else.
 */
export function decideRefresh(
  token: PresentedRefresh,
  now: Date,
): 'yields' | 'yields-again' | 'expired' | 'stolen' {
  const { expiresAt, refreshedAt, isReplaced, hasUsedSuccessor, isConfidential } = token;
  if (expiresAt <= now) return 'expired';
  if (isConfidential) return 'yields';
  if (isReplaced) return 'stolen';
  if (refreshedAt === null || now.getTime() - refreshedAt.getTime() <= TABS_MS) return 'yields';
  return hasUsedSuccessor === false ? 'yields-again' : 'stolen';
}
