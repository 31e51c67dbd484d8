/** States of a check, the worst first. */
export const STATUS_STATES = ['error', 'failure', 'warning', 'pending', 'success', 'skipped'] as const;

/** One of them. */
export type StatusState = (typeof STATUS_STATES)[number];

/**
 * What the latest states of all contexts come to, as GitHub combines them and Gitea today: one that went wrong, all that are
 * through, or some still to come; without any they all are. Who waits for the end asks until it is not pending.
 */
export function combineStates(states: readonly string[]): 'failure' | 'pending' | 'success' {
  if (states.some((state) => state === 'error' || state === 'failure')) return 'failure';
  return states.length === 0 || states.includes('pending') ? 'pending' : 'success';
}
