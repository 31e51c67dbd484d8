/** Ways to merge that a repository allows or not. */
export const MERGE_STYLES = [
  'merge',
  'rebase',
  'rebase-merge',
  'squash',
  'fast-forward-only',
  'manually-merged',
] as const;

/** One of them. */
export type MergeStyle = (typeof MERGE_STYLES)[number];

/** Those that merge requests can have so far; see mergeable.ts. */
export const SERVED_STYLES: readonly MergeStyle[] = ['merge'];
