import type { Tx } from '@croft/sql';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, mergedMeanwhile, notFound, pullExists, unacceptable } from '../failures.ts';
import { checkMayEdit, type WantedIssueEdit } from '../issues/edit-issue.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { resolveWishes } from '../issues/resolve-wishes.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import { checkNotArchived, mayWrite } from '../repositories/find-repository.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
import { checkTexts } from '../rules/issues/issue-edit.ts';
import { noChanges } from '../rules/pulls/head-ref.ts';
import * as pulls from '../store/pulls/pulls.ts';
import * as repositories from '../store/repositories/repositories.ts';
import { betweenMerges, changePull } from './change-pull.ts';
import { accessToHead } from './find-head.ts';
import { findPull, type VisiblePull } from './find-pull.ts';
import { changeBase } from './retarget-pulls.ts';

/** What a request may change about a pull request. */
export interface WantedPullEdit extends WantedIssueEdit {
  base?: string | null | undefined;
  allowMaintainerEdit?: boolean | null | undefined;
}

/**
 * Edits a pull request: its poster and writers may, and some of it only writers. Everything or nothing; of several faults
 * the first in the order of the contract is told.
 * @throws 403, 404, 409, 412, 422, 423
 */
export async function editPull(
  context: Context,
  caller: Caller,
  path: NumberedPath,
  wanted: WantedPullEdit,
): Promise<void> {
  const found = await findPull(context, caller, path);
  const { repository, pull } = found;
  const isWriter = mayWrite(found, 'pulls');
  checkMayEdit(caller, pull, isWriter);
  checkNotArchived(found);
  checkTexts(wanted);
  const { assignee_ids: assigned } = pull;
  const wishes = await resolveWishes(context, repository, isWriter ? wanted : {}, { assigned });
  // 0 leaves the milestone: unlike an issue's, it cannot be taken away.
  const allowEdit = wanted.allowMaintainerEdit ?? undefined;
  const mayLend = allowEdit !== undefined && (await mayLendHead(context, caller, found));

  const apply = async (now: pulls.PullWithIssue) => {
    const base = isWriter ? await findNewBase(context, now, wanted.base) : undefined;
    // It was merged while this waited: into the branch that it was to leave.
    const isLate = isWriter && pull.merged_at === null && now.merged_at !== null;
    // A body applies when it is not empty: unlike an issue's, it cannot be cleared.
    const { assignees, labels, milestone } = wishes;
    const texts = { ...wanted, body: wanted.body || undefined };
    const wish = { ...texts, base: base?.name, assignees, labels, milestone };
    await changePull(context, now, { ...wish, actorId: caller.userId, isWriter }, async (tx, after) => {
      if (isLate && wanted.base && wanted.base !== now.base_branch) throw mergedMeanwhile();
      if (base !== undefined) await moveToBase(tx, { ...now, closed_at: after.closed_at }, base, caller);
      if (allowEdit === undefined) return;
      if (!mayLend) throw forbidden('SetAllowEdits: user not allowed to do this action');
      await pulls.updateMaintainerEdit(tx, pull.id, allowEdit);
    });
  };
  if (wanted.base || typeof wanted.state === 'string')
    await betweenMerges(context, { id: pull.id, repositoryId: repository.id }, apply);
  else await apply(pull);
}

/** Another base that is wished for, and whether there is such a branch. */
interface NewBase {
  name: string;
  exists: boolean;
}

/** Edit rule 5: undefined also for a merged pull request, whose base stays what it was, silently. */
async function findNewBase(
  { git }: Context,
  { merged_at, base_branch, repository_id }: pulls.PullWithIssue,
  name: string | null | undefined,
): Promise<NewBase | undefined> {
  if (!name || name === base_branch || merged_at !== null) return undefined;
  const tip = isBranchName(name) ? await readRef(git, repository_id, branchRef(name)) : undefined;
  return { name, exists: tip !== undefined };
}

/**
 * Edit rule 5: the new base must exist, and be another branch than the head, for a pull request that is open then.
 * @param pull held, and as it is to become
 * @throws 404, 409, 422
 */
async function moveToBase(
  tx: Tx,
  pull: pulls.PullWithIssue,
  { name, exists }: NewBase,
  caller: Caller,
): Promise<void> {
  if (!exists) throw notFound(`new base '${name}' not exist`);
  if (pull.closed_at !== null) throw unacceptable('the base of a closed pull request cannot change');
  if (name === pull.head_branch && pull.head_repository_id === pull.repository_id) throw noChanges();
  await repositories.lock(tx, pull.repository_id);
  const twin = await pulls.findOpenTwin(tx, { ...pulls.branchesOf(pull), baseBranch: name }, pull.id);
  if (twin !== undefined) throw pullExists(twin);
  await changeBase(tx, pull, name, { actorId: caller.userId, chosen: true });
}

/** Edit rule 6: only the poster decides who else may push to the head, and only with write access to it. */
async function mayLendHead(context: Context, caller: Caller, found: VisiblePull): Promise<boolean> {
  const { pull } = found;
  if (pull.poster_id !== caller.userId) return false;
  const head = await accessToHead(context, caller, found, pull);
  return head !== undefined && mayWrite(head, 'code');
}
