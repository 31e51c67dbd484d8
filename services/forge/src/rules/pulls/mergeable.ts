import { notMergeable, unrelatedHistories } from '../../failures.ts';
import type { MergeStyle } from './merge-style.ts';

/** Of so many files in conflict it is told which they are: trees that name each other make millions of them out of nothing. */
export const MAX_CONFLICTS = 100;

/** What merging a head into a base would give. */
export interface MergeOutlook {
  /** Undefined when the histories are unrelated. */
  mergeBase: string | undefined;
  /** `nothing`: the base has all commits of the head already. */
  outcome: 'clean' | 'conflicts' | 'unrelated' | 'nothing';
  /** Files that conflict, `MAX_CONFLICTS` of them at most; none where folders do. */
  conflicts: readonly string[];
}

/** That it conflicts, in the words of a timeline: without names of files, which not everybody may read who reads that. */
export function conflictWords(files: readonly string[]): string {
  if (files.length === 0) return 'it conflicts';
  if (files.length === 1) return 'it conflicts in one file';
  return `it conflicts in ${files.length} files${files.length < MAX_CONFLICTS ? '' : ' or more'}`;
}

/** A title that says the work is not finished. */
export function isWorkInProgress(title: string): boolean {
  return /^(wip:|\[wip\])/i.test(title.trimStart());
}

/**
 * What `mergeable` says: whether `checkOutlook` would let it pass. The reference says true of a pull request that brings
 * nothing and refuses to merge it. Approvals and permissions are not its business.
 */
export function isMergeable(title: string, outlook: MergeOutlook | undefined): boolean {
  return outlook?.outcome === 'clean' && !isWorkInProgress(title);
}

/**
 * Merge rule 3, as far as commits decide: a pull request that is in progress, has conflicts or brings nothing is 405
 * for every style.
 * @throws 405
 */
export function checkOutlook(title: string, outlook: MergeOutlook): void {
  if (isWorkInProgress(title)) throw notMergeable('Work in progress PRs cannot be merged');
  if (outlook.outcome === 'conflicts') {
    throw notMergeable('Please try again later', { conflicted_files: outlook.conflicts });
  }
  if (outlook.outcome === 'nothing') throw notMergeable('Please try again later');
}

/**
 * Merge rule 8: unrelated histories are found by the merge itself.
 * @throws 409
 */
export function checkRelated(outlook: MergeOutlook, style: MergeStyle): void {
  if (outlook.outcome === 'unrelated') throw unrelatedHistories(style);
}
