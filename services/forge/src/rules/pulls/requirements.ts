import { notMergeable } from '../../failures.ts';
import type { ProtectionOptions } from '../../protections/protection-options.ts';
import type { MergeFacts } from '../../pulls/merge-facts.ts';
import { readGlob, type Work } from '../git/glob.ts';
import { findKept, isListed, type Protection, type Pusher } from '../git/protection.ts';

/** The same with what its commits tell. */
export interface Situation extends MergeFacts {
  /** Whether the base has commits that the head has not. */
  outdated: boolean;
}

/** What merges by itself, and which checks it waits for where the protection requires none. */
export interface ByItself {
  /** Whether checks are to come, also when none has spoken yet. */
  awaitsChecks: boolean;
  /** Names and globs of those that count, where there are such; undefined for all. */
  counted?: readonly string[] | undefined;
}

/**
 * Merge rule 3, what the protection of the base branch requires, in the reference's order and words; `checkKept` is the
 * last of it.
 * @param byItself a scheduled merge waits for the checks there are where the protection names none; and for the first where
 *   some are to come
 * @throws 405
 */
export function checkProtection(
  protection: Protection | undefined,
  situation: Situation,
  byItself?: ByItself,
): void {
  const options = protection?.options;
  const checksFail =
    options?.enable_status_check === true
      ? !passes(options.status_check_contexts, situation.statuses)
      : byItself !== undefined && !isDone(byItself, situation.statuses);
  if (checksFail) throw notMergeable('Not all required status checks successful');
  if (options === undefined) return;
  if (approvalsThatCount(options, situation) < options.required_approvals)
    throw notMergeable('Does not have enough approvals');
  if (options.block_on_rejected_reviews && situation.rejected)
    throw notMergeable('There are requested changes');
  if (options.block_on_official_review_requests && situation.asked)
    throw notMergeable('There are official review requests');
  if (options.block_on_outdated_branch && situation.outdated)
    throw notMergeable('The head branch is behind the base branch');
}

/**
 * And that no file changes that it keeps. To be asked when everything else is there: what changes takes git.
 * @throws 405
 */
export function checkKept(protection: Protection, paths: readonly string[]): void {
  const kept = findKept(protection, paths);
  if (kept !== undefined) throw notMergeable('Changed protected files', { protected_files: [kept] });
}

/** Approvals that are to be dismissed when the head moves do not count in the moment before that either. */
const approvalsThatCount = (options: ProtectionOptions, { approvals, freshApprovals }: MergeFacts) =>
  options.ignore_stale_approvals || options.dismiss_stale_approvals ? freshApprovals : approvals;

/**
 * Whether checks succeeded: of each name or glob at least one, and all it stands for. Without any all there are, and
 * there must be one. `*` stands for slashes, too: contexts are no paths.
 */
export function passes(
  required: readonly string[],
  statuses: MergeFacts['statuses'],
  work: Work = statusWork(),
): boolean {
  const wanted = required.length === 0 ? ['*'] : required;
  return wanted.every((pattern) => {
    const meant = meantBy(pattern, statuses, work);
    return (
      work.left >= 0 &&
      meant.length > 0 &&
      meant.every(({ state }) => state === 'success' || state === 'skipped')
    );
  });
}

/** Whether what merges by itself waits for no check. */
function isDone({ awaitsChecks, counted = ['*'] }: ByItself, statuses: MergeFacts['statuses']): boolean {
  if (statuses.length === 0) return !awaitsChecks;
  const work = statusWork();
  const those = counted.flatMap((pattern) => meantBy(pattern, statuses, work));
  return work.left >= 0 && (those.length === 0 || passes([], those, work));
}

/** For all names and globs of a protection and all that was reported: half a second. */
export const statusWork = (): Work => ({ left: 10_000_000 });

/** The statuses whose contexts a name or glob stands for. */
export function meantBy(
  pattern: string,
  statuses: MergeFacts['statuses'],
  work: Work,
): MergeFacts['statuses'] {
  const takes = readGlob(pattern.replaceAll(/\*+/g, '**'), work) ?? (() => false);
  return statuses.filter(({ context }) => context === pattern || takes(context, work));
}

/**
 * Whether somebody who asks for it merges past what the protection requires: administrators of the repository unless it
 * says otherwise, and those it lists.
 */
export function mayForceMerge(
  protection: Protection | undefined,
  merger: Pusher,
  isAdministrator: boolean,
): boolean {
  if (protection === undefined) return isAdministrator;
  const { options } = protection;
  if (isAdministrator && !options.block_admin_merge_override) return true;
  return (
    options.enable_bypass_allowlist &&
    isListed(merger, options.bypass_allowlist_usernames, options.bypass_allowlist_teams)
  );
}

/**
 * Merge rule 3: what nobody merges past.
 * @param signs whether everything the base branch gets would be signed by us
 * @throws 405
 */
export function checkInevitable(
  protection: Protection | undefined,
  { waits }: Pick<MergeFacts, 'waits'>,
  signs: boolean,
): void {
  if (protection?.options.require_signed_commits && !signs)
    throw notMergeable('the protected branch takes signed commits only, and the merge would not be signed');
  if (waits) throw notMergeable('cannot merge this pull request because it still has open dependencies');
}
