import { instant } from '../../rows.ts';

/**
 * Whether a change of address or number that waits for its confirmation still does. It ends some time after it was
 * begun, however often its codes are sent: anybody can ask for that.
 * @param lifeMs 0 or more
 */
export function isChangeOpen(begunAt: string | null, lifeMs: number, now: Date): boolean {
  const begunMs = instant(begunAt);
  return begunMs !== null && now.getTime() < begunMs + lifeMs;
}
