import { forbidden, unacceptable } from '../../failures.ts';

/** Ways to bring a head branch up to its base. */
export const UPDATE_STYLES = ['merge', 'rebase'] as const;

/** One of them. */
export type UpdateStyle = (typeof UPDATE_STYLES)[number];

/** The switches of a repository. */
export interface UpdateSwitches {
  allow_merge_update: boolean;
  allow_rebase_update: boolean;
  default_update_style: string;
}

/**
 * The style a request names; an empty one means the repository's own.
 * @throws 403 for one that the repository does not allow, 422 for one that nobody knows
 */
export function readUpdateStyle(text: string, switches: UpdateSwitches): UpdateStyle {
  const style = UPDATE_STYLES.find((name) => name === (text || switches.default_update_style));
  if (style === undefined) throw unacceptable(`[Style]: In(${UPDATE_STYLES.join(',')})`);
  const isAllowed = style === 'merge' ? switches.allow_merge_update : switches.allow_rebase_update;
  if (!isAllowed) throw forbidden(`${style} is not an allowed update style for this repository`);
  return style;
}
