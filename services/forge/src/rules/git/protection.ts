import type { Approvers, ProtectionOptions } from '../../protections/protection-options.ts';
import { type Glob, isPattern, readGlob, type Work } from './glob.ts';

/** A protection as far as it decides; in lists the lower priority number comes first. */
export interface Protection {
  /** A branch name or a glob. */
  rule_name: string;
  priority: number;
  options: ProtectionOptions;
}

/** Who moves a branch. */
export interface Pusher {
  userId: number;
  /** Teams of the repository's owner that he is in. */
  teamIds: readonly number[];
  /** Whether he may write to the code at all. */
  mayWrite: boolean;
}

/** How a branch moves. */
export type PushKind = 'create' | 'fast-forward' | 'force' | 'delete';

/** For the globs of one branch: thousands that people write. */
const BRANCH_WORK = 1_000_000;
/** For the files of one push or merge: hundreds of thousands, with what people write. */
const FILES_WORK = 50_000_000;

/**
 * The protection that holds for a branch: of the lowest priority number, an exact name before a glob. Globs that there is no time
 * for hold, too.
 */
export function findProtection<One extends Protection>(
  protections: readonly One[],
  branch: string,
  work: Work = { left: BRANCH_WORK },
): One | undefined {
  return protections
    .filter(({ rule_name: name }) => name === branch || (isPattern(name) && mayTake(name, branch, work)))
    .sort(
      (a, b) => a.priority - b.priority || Number(a.rule_name !== branch) - Number(b.rule_name !== branch),
    )[0];
}

const mayTake = (glob: string, branch: string, work: Work) =>
  work.left < 0 || readGlob(glob, work)?.(branch, work) === true || work.left < 0;

/**
 * Whether somebody may move a branch. Owners and site administrators are held to it too: they may change the
 * protection, not overlook it.
 * @param paths files that the push changes; only asked for where `dependsOnFiles` says so
 * @returns why not, in the words the reference's clients show; undefined when he may
 */
export function refusePush(
  protection: Protection | undefined,
  branch: string,
  push: { kind: PushKind; pusher: Pusher; paths?: readonly string[] },
): string | undefined {
  const { kind, pusher, paths = [] } = push;
  if (!pusher.mayWrite) return 'user should have a permission to write to a repo';
  if (protection === undefined) return undefined;
  if (kind === 'delete') return `branch ${branch} is protected from deletion`;
  const { options } = protection;
  if (kind === 'force' && !mayForce(options, pusher)) return `branch ${branch} is protected from force push`;
  if (!mayPush(options, pusher) && !touchesOnlyFree(options, paths)) {
    return `Not allowed to push to protected branch ${branch}`;
  }
  const touched = findKept(protection, paths);
  return touched && `branch ${branch} is protected from changing file ${touched}`;
}

/** Whether somebody may merge into a branch, as far as its protection names who may. */
export function mayMergeInto(protection: Protection | undefined, merger: Pusher): boolean {
  if (!merger.mayWrite || protection === undefined) return merger.mayWrite;
  const { options } = protection;
  return (
    !options.enable_merge_whitelist ||
    isListed(merger, options.merge_whitelist_usernames, options.merge_whitelist_teams)
  );
}

/** Whether somebody's approval counts: who may write, and is listed where the protection lists any. */
export function mayApprove(protection: Protection | undefined, reviewer: Pusher): boolean {
  const options = protection?.options;
  if (!reviewer.mayWrite || !options?.enable_approvals_whitelist) return reviewer.mayWrite;
  return isListed(reviewer, options.approvals_whitelist_username, options.approvals_whitelist_teams);
}

/** Those whom a protection lists for that; undefined for everybody who may write. */
export function approversOf(protection: Protection | undefined): Approvers | undefined {
  if (!protection?.options.enable_approvals_whitelist) return undefined;
  const { approvals_whitelist_username: users, approvals_whitelist_teams: teams } = protection.options;
  return { users, teams };
}

/** The first of some files that nobody may change on a branch, pushing or merging, or that there is no time to look at. */
export function findKept({ options }: Protection, paths: readonly string[]): string | undefined {
  const kept = readPatterns(options.protected_file_patterns);
  const work = { left: FILES_WORK };
  return paths.find((path) => kept.some((takes) => takes(path.toLowerCase(), work)) || work.left < 0);
}

/** Whether `findKept` may find any. */
export function keepsFiles(protection: Protection | undefined): protection is Protection {
  return protection !== undefined && protection.options.protected_file_patterns.trim() !== '';
}

/** Whether `refusePush` needs to know which files a push changes. */
export function dependsOnFiles({ options }: Protection): boolean {
  return `${options.protected_file_patterns}${options.unprotected_file_patterns}`.trim() !== '';
}

/** Globs of a text that separates them by `;`, in lower case; what is none never matches. */
function readPatterns(text: string): Glob[] {
  return text
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .flatMap((part) => readGlob(part) ?? []);
}

function mayPush(options: ProtectionOptions, pusher: Pusher): boolean {
  if (!options.enable_push) return false;
  return (
    !options.enable_push_whitelist ||
    isListed(pusher, options.push_whitelist_usernames, options.push_whitelist_teams)
  );
}

/** Who may overwrite must be among those who may push. */
function mayForce(options: ProtectionOptions, pusher: Pusher): boolean {
  if (!options.enable_force_push || !mayPush(options, pusher)) return false;
  return (
    !options.enable_force_push_allowlist ||
    isListed(pusher, options.force_push_allowlist_usernames, options.force_push_allowlist_teams)
  );
}

/** Everybody with write permission may change files that are declared free. */
function touchesOnlyFree(options: ProtectionOptions, paths: readonly string[]): boolean {
  const free = readPatterns(options.unprotected_file_patterns);
  const work = { left: FILES_WORK };
  return paths.length > 0 && paths.every((path) => free.some((takes) => takes(path.toLowerCase(), work)));
}

/** Whether somebody is in a list, himself or one of his teams. */
export function isListed(pusher: Pusher, users: readonly number[], teams: readonly number[]): boolean {
  return users.includes(pusher.userId) || teams.some((team) => pusher.teamIds.includes(team));
}
