import type { Context } from '../context.ts';
import { notMergeable } from '../failures.ts';
import { listChangedPaths } from '../outside/git/reading/changed-paths.ts';
import { findKept, type Protection } from '../rules/git/protection.ts';
import type { MergeStyle } from '../rules/pulls/merge-style.ts';
import { checkInevitable, checkProtection } from '../rules/pulls/requirements.ts';
import * as mergeFacts from '../store/pulls/merge-facts.ts';
import type { PullWithIssue } from '../store/pulls/pulls.ts';
import type { MergeFacts } from './merge-facts.ts';

/** Who is held to less or more than the protection says. */
export interface RequirementsPast {
  /** `forced` by somebody who may; `scheduled` for later, when it counts; `itself` is that later. */
  by?: 'forced' | 'scheduled' | 'itself' | undefined;
}

/**
 * Merge rule 3: everything that is required of a merge besides commits that merge. One statement, and git only where a
 * protection keeps files.
 * @throws 405
 */
export async function checkRequirements(
  context: Context,
  pull: PullWithIssue,
  commits: { base: string; head: string; mergeBase: string | undefined },
  protection: Protection | undefined,
  { by, style, facts: known }: RequirementsPast & { style: MergeStyle; facts?: MergeFacts },
): Promise<void> {
  const facts = known ?? (await mergeFacts.load(context.database.autocommit(), pull, commits.head));
  if (by !== 'forced' && by !== 'scheduled') {
    const outdated = commits.mergeBase !== commits.base;
    const keptFiles = () => listKept(context, pull.repository_id, commits, protection);
    await checkProtection(protection, { ...facts, outdated, keptFiles }, by === 'itself');
  }
  checkInevitable(protection, facts, signsAll(context, style));
}

/** @throws 405 when what changes cannot be read */
async function listKept(
  { git }: Context,
  repositoryId: number,
  { base, head, mergeBase }: { base: string; head: string; mergeBase: string | undefined },
  protection: Protection | undefined,
): Promise<string[]> {
  if (!protection?.options.protected_file_patterns.trim()) return [];
  const paths = await listChangedPaths(git, repositoryId, mergeBase ?? base, head);
  if (paths === undefined) throw notMergeable('the base branch is protected and what changes cannot be read');
  const kept = findKept(protection, paths);
  return kept === undefined ? [] : [kept];
}

/**
 * Whether all the base branch would get is signed by us: we know no keys of people, so commits that come over as they
 * are count as not signed.
 */
const signsAll = ({ identity }: Context, style: MergeStyle) =>
  identity.signingKey !== undefined && ['squash', 'rebase', 'rebase-merge'].includes(style);
