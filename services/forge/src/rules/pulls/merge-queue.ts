import type { MergeFacts } from '../../pulls/merge-facts.ts';
import type { StatusState } from '../git/combined-status.ts';
import type { Work } from '../git/glob.ts';
import { meantBy, passes } from './requirements.ts';

/** A pull request in a merge queue, as far as it decides. */
export interface QueuedPull {
  /** The head that was queued. */
  queuedHead: string;
  /** What became of the pull request meanwhile. */
  isOpen: boolean;
  /** It was closed or had another base since. */
  wasOut: boolean;
  base: string;
  head: string;
  /** Its merge onto the one before it, once it is made. */
  made: { onto: string; commit: string; at: Date } | undefined;
  /** What the checks say of that merge. */
  verdict: Verdict;
}

/** What checks say of a commit. */
export type Verdict = 'green' | 'red' | 'pending';

/** What is to be done next with a queue; places count from its beginning. */
export type QueueStep =
  | { kind: 'leave'; place: number; reason: string }
  | { kind: 'land'; count: number }
  | { kind: 'make'; from: number; to: number; onto: string }
  | { kind: 'wait' };

/** What holds for a queue. */
export interface QueueTerms {
  branch: string;
  /** Where the branch is. */
  tip: string;
  /** How many merges are made ahead of the branch. */
  batch: number;
  timeoutMinutes: number;
  now: Date;
}

/**
 * What a merge queue does next. Its first merges stand one on the other, the first on the branch: those whose checks are
 * green land together. Only the first is ever sent away for its checks, because its merge holds nothing but the branch
 * and itself: so it is the culprit, and the ones behind are made anew without it. A branch that moved has no merges on it
 * and gets new ones.
 */
export function planQueue(queue: readonly QueuedPull[], terms: QueueTerms): QueueStep {
  const [place, reason] = findLeaver(queue, terms);
  if (reason !== undefined) return { kind: 'leave', place, reason };
  const standing = countStanding(queue, terms.tip);
  const notGreen = queue.slice(0, standing).findIndex(({ verdict }) => verdict !== 'green');
  const green = notGreen === -1 ? standing : notGreen;
  if (green > 0) return { kind: 'land', count: green };
  const first = standing === 0 ? undefined : queue[0];
  if (first?.verdict === 'red') return { kind: 'leave', place: 0, reason: 'its checks failed' };
  if (first?.made !== undefined && isOverdue(first.made.at, terms))
    return { kind: 'leave', place: 0, reason: `its checks took longer than ${terms.timeoutMinutes} minutes` };
  const to = Math.min(queue.length, terms.batch);
  const onto = standing === 0 ? terms.tip : queue[standing - 1]?.made?.commit;
  return standing < to && onto !== undefined ? { kind: 'make', from: standing, to, onto } : { kind: 'wait' };
}

/** The first that has no business in the queue any more. */
function findLeaver(queue: readonly QueuedPull[], { branch }: QueueTerms): [number, string | undefined] {
  for (const [place, queued] of queue.entries()) {
    const reason = whyGone(queued, branch);
    if (reason !== undefined) return [place, reason];
  }
  return [-1, undefined];
}

/** Why a pull request has no business any more in the queue of a branch; undefined when it has. */
export function whyGone(
  { isOpen, wasOut, base, head, queuedHead }: Omit<QueuedPull, 'made' | 'verdict'>,
  branch: string,
): string | undefined {
  if (!isOpen) return 'it was closed';
  if (base !== branch) return 'it has another base branch now';
  if (wasOut) return 'it was closed, or had another base branch, for a moment';
  if (head !== queuedHead) return 'its head branch was pushed to';
  return undefined;
}

/** How many of the first have merges that stand on one another and on the branch. */
function countStanding(queue: readonly QueuedPull[], tip: string): number {
  let onto = tip;
  for (const [place, { made }] of queue.entries()) {
    if (made?.onto !== onto) return place;
    onto = made.commit;
  }
  return queue.length;
}

const isOverdue = (since: Date, { now, timeoutMinutes }: QueueTerms) =>
  now.getTime() - since.getTime() > timeoutMinutes * 60_000;

/**
 * What the statuses of a commit say about the contexts a protection requires, which may be globs: what nobody reported yet
 * is pending.
 * @param work for all commits that are looked at together: people write the globs, and others the contexts. Without any left
 *   nothing is green, nor known to be red
 */
export function judgeStatuses(
  required: readonly string[],
  reported: MergeFacts['statuses'],
  work: Work,
): Verdict {
  const isRed = ({ state }: { state: string }) => RED.includes(state as StatusState);
  if (required.some((pattern) => meantBy(pattern, reported, work).some(isRed))) return 'red';
  return required.length === 0 || passes(required, reported, work) ? 'green' : 'pending';
}

const RED: readonly StatusState[] = ['error', 'failure', 'warning'];
