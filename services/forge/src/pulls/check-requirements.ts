import type { Context } from '../context.ts';
import { notMergeable } from '../failures.ts';
import { listMergedPaths } from '../outside/git/merging/merged-paths.ts';
import { listChangedPaths } from '../outside/git/reading/changed-paths.ts';
import { keepsFiles, type Protection } from '../rules/git/protection.ts';
import type { MergeStyle } from '../rules/pulls/merge-style.ts';
import { checkInevitable, checkKept, checkProtection } from '../rules/pulls/requirements.ts';
import * as mergeFacts from '../store/pulls/merge-facts.ts';
import type { PullWithIssue } from '../store/pulls/pulls.ts';
import type { MergeFacts } from './merge-facts.ts';

/** Who is held to less or more than the protection says. */
export interface RequirementsPast {
  /** `forced` by somebody who may; `scheduled` for later, when it counts; `itself` is that later. */
  by?: 'forced' | 'scheduled' | 'itself' | undefined;
  /** Of what merges by itself: whether checks of the head are to come, also when none has spoken yet. */
  awaitsChecks?: boolean | undefined;
  /** Names and globs of those of its checks that count; undefined for all. */
  counted?: readonly string[] | undefined;
}

/** What is to be merged, two commits that merge. */
interface MergedCommits {
  base: string;
  head: string;
  mergeBase: string | undefined;
  /** What the base branch is to become, where that is made already. */
  made?: string | undefined;
}

/**
 * Merge rule 3: everything that is required of a merge besides commits that merge. One statement, and git only where a
 * protection keeps files.
 * @throws 405
 */
export async function checkRequirements(
  context: Context,
  pull: PullWithIssue,
  commits: MergedCommits,
  protection: Protection | undefined,
  {
    by,
    awaitsChecks = false,
    counted,
    style,
    facts: known,
  }: RequirementsPast & { style: MergeStyle; facts?: MergeFacts },
): Promise<void> {
  const facts = known ?? (await mergeFacts.load(context.database.autocommit(), pull, commits.head));
  if (by !== 'forced' && by !== 'scheduled') {
    const outdated = commits.mergeBase !== commits.base;
    checkProtection(
      protection,
      { ...facts, outdated },
      by === 'itself' ? { awaitsChecks, counted } : undefined,
    );
    if (keepsFiles(protection)) await checkChanges(context, pull.repository_id, commits, protection);
  }
  checkInevitable(protection, facts, signsAll(context, style));
}

/**
 * What the head changes, and what the base branch would get, which may be more: git follows the renames of both sides, and
 * of several merge bases the head's changes are shown from one.
 */
async function checkChanges(
  { git }: Context,
  repositoryId: number,
  { base, head, mergeBase, made }: MergedCommits,
  protection: Protection,
): Promise<void> {
  checkKept(protection, await listChanged(git, repositoryId, mergeBase ?? base, head));
  if (made !== undefined) checkKept(protection, await listChanged(git, repositoryId, base, made));
  // A head that stands on the base is what the merge gives; unrelated histories give nothing, and are refused elsewhere.
  else if (mergeBase !== undefined && mergeBase !== base)
    checkKept(protection, unlessUnread(await listMergedPaths(git, repositoryId, base, head)));
}

/**
 * The same for what was made of a merge, before the base branch gets it: a rebase leaves merges out, with what those took
 * back, and a stack goes onto more than each of its heads was looked at with.
 * @throws 405
 */
export async function checkMade(
  { git }: Context,
  repositoryId: number,
  made: { base_sha: string; commit_sha: string },
  protection: Protection | undefined,
  { by }: RequirementsPast = {},
): Promise<void> {
  if (!keepsFiles(protection) || by === 'forced') return;
  checkKept(protection, await listChanged(git, repositoryId, made.base_sha, made.commit_sha));
}

/** @throws 405 when what changes cannot be read */
async function listChanged(
  git: Context['git'],
  repositoryId: number,
  from: string,
  to: string,
): Promise<string[]> {
  return unlessUnread(await listChangedPaths(git, repositoryId, from, to));
}

/** @throws 405 */
function unlessUnread(paths: string[] | undefined): string[] {
  if (paths === undefined) throw notMergeable('the base branch is protected and what changes cannot be read');
  return paths;
}

/**
 * Whether all the base branch would get is signed by us: we know no keys of people, so commits that come over as they
 * are count as not signed.
 */
const signsAll = ({ identity }: Context, style: MergeStyle) =>
  identity.signingKey !== undefined && ['squash', 'rebase', 'rebase-merge'].includes(style);
