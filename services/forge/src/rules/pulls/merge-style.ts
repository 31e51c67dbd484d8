import { notMergeable } from '../../failures.ts';

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

/** The switches of a repository. */
export interface StyleSwitches {
  allow_merge: boolean;
  allow_rebase: boolean;
  allow_rebase_explicit: boolean;
  allow_squash: boolean;
  allow_fast_forward_only: boolean;
  allow_manual_merge: boolean;
}

const SWITCHES: Readonly<Record<MergeStyle, keyof StyleSwitches>> = {
  merge: 'allow_merge',
  rebase: 'allow_rebase',
  'rebase-merge': 'allow_rebase_explicit',
  squash: 'allow_squash',
  'fast-forward-only': 'allow_fast_forward_only',
  'manually-merged': 'allow_manual_merge',
};

/**
 * The style a request names; an empty one means an ordinary merge (merge rule 5).
 * @throws 405 for one that nobody knows
 */
export function nameStyle(text: string): MergeStyle {
  const style = MERGE_STYLES.find((name) => name === (text || 'merge'));
  if (style === undefined) throw styleRefused(text);
  return style;
}

/** @throws 405 for a style that the repository does not allow */
export function checkStyle(style: MergeStyle, switches: StyleSwitches): void {
  if (!switches[SWITCHES[style]]) throw styleRefused(style);
}

const styleRefused = (style: string) =>
  notMergeable(`${style} is not allowed an allowed merge style for this repository`);
