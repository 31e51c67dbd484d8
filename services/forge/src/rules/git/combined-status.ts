/** States of a check, the worst first. */
export const STATUS_STATES = ['error', 'failure', 'warning', 'pending', 'success', 'skipped'] as const;

/** One of them. */
export type StatusState = (typeof STATUS_STATES)[number];

/** The worst of the latest states of all contexts; without any, checks are still to come. */
export function combineStates(states: readonly string[]): StatusState {
  return STATUS_STATES.find((state) => states.includes(state)) ?? 'pending';
}
