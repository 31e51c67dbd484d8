import type { Context } from '../context.ts';
import { forbidden } from '../failures.ts';
import { findMergeBase, hasCommit } from '../outside/git/merging/merge.ts';
import { listChangedPaths } from '../outside/git/reading/changed-paths.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
import { dependsOnFiles, findProtection } from '../rules/git/protection.ts';
import { branchOf, kindOf, type PushCommand, tagOf } from '../rules/git/push-request.ts';
import { refuseTag } from '../rules/git/tag-protection.ts';
import type { RepositoryRow } from '../store/repositories/repositories.ts';
import * as repositories from '../store/repositories/repositories.ts';
import { type PushRules, refuseMove } from './push-rules.ts';

/** Why a ref may not move to commits that are in the repository, with the files they change; undefined when it may. */
export async function refuseArrived(
  { database, git }: Context,
  repository: RepositoryRow,
  command: PushCommand,
  rules: PushRules,
): Promise<string | undefined> {
  const { ref, before, after } = command;
  const kind = kindOf(command);
  // What git checks of names, and does not see of these; one that is there has a name.
  const [, name = ''] = /^refs\/(?:heads|tags|notes)\/(.+)$/s.exec(ref) ?? [];
  if (kind === 'create' && !isBranchName(name)) return 'deny updating a hidden ref';
  const tag = tagOf(ref);
  if (tag !== undefined) return refuseTag(rules.tags, tag, rules.pusher);
  const branch = branchOf(ref);
  if (branch === undefined) return undefined;
  if (kind === 'delete') {
    // The push may have begun before somebody made it the default branch.
    const { default_branch: now } =
      (await repositories.findById(database.autocommit(), repository.id)) ?? repository;
    if (branch === now) return 'deletion of the current branch prohibited';
  }
  const protection = findProtection(rules.protections, branch, rules.work);
  if (protection === undefined) return refuseMove(rules, branch, 'fast-forward');
  const base = kind === 'update' ? before : await startOf(git, repository, after).catch(() => undefined);
  const paths =
    kind === 'delete' || !dependsOnFiles(protection)
      ? []
      : await listChangedPaths(git, repository.id, base ?? EMPTY_TREE, after);
  if (paths === undefined) return unreadChanges(branch);
  const isForward = kind === 'update' && (await hasCommit(git, repository.id, after, before));
  return refuseMove(rules, branch, kind !== 'update' ? kind : isForward ? 'fast-forward' : 'force', paths);
}

/** Why a branch does not move whose changes are too many, or damaged. */
export const unreadChanges = (branch: string) =>
  `branch ${branch} is protected and what changes cannot be read`;

/**
 * The same for a branch that moves by our own hand.
 * @throws 403
 */
export async function checkArrived(...move: Parameters<typeof refuseArrived>): Promise<void> {
  const reason = await refuseArrived(...move);
  if (reason !== undefined) throw forbidden(reason);
}

/** git knows it without having it. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** Where the commits of a new branch begin to be its own. */
async function startOf(
  git: Context['git'],
  { id, default_branch: defaultBranch }: RepositoryRow,
  commit: string,
): Promise<string | undefined> {
  const tip = await readRef(git, id, branchRef(defaultBranch));
  return tip === undefined ? undefined : await findMergeBase(git, id, tip, commit);
}
