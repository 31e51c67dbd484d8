import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, mergedMeanwhile, notFound, pullExists, unacceptable } from '../failures.ts';
import { checkMayEdit, type WantedIssueEdit } from '../issues/edit-issue.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { resolveWishes } from '../issues/resolve-wishes.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import { checkNotArchived, mayWrite } from '../repositories/find-repository.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
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

/** Edits a pull request: its poster and writers may, and some of it only writers. Everything or nothing. */
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
  const wishes = await resolveWishes(context, repository, isWriter ? wanted : {});
  // 0 leaves the milestone: unlike an issue's, it cannot be taken away.
  const allowEdit = await decideMaintainerEdit(context, caller, found, wanted.allowMaintainerEdit);

  const apply = async (now: pulls.PullWithIssue) => {
    // It was merged while this waited: into the branch that it was to leave.
    const isLate = pull.merged_at === null && now.merged_at !== null;
    if (isLate && isWriter && wanted.base && wanted.base !== now.base_branch) throw mergedMeanwhile();
    const base = isWriter ? await readNewBase(context, now, wanted.base) : undefined;
    // A body applies when it is not empty: unlike an issue's, it cannot be cleared.
    const { assignees, labels, milestone } = wishes;
    const texts = { ...wanted, body: wanted.body || undefined };
    const edit = { ...texts, actorId: caller.userId, isWriter, assignees, labels, milestone };
    await changePull(context, now, edit, async (tx, after) => {
      if (allowEdit !== undefined) await pulls.updateMaintainerEdit(tx, pull.id, allowEdit);
      if (base === undefined || after.merged_at !== null) return;
      if (after.closed_at !== null) throw unacceptable('the base of a closed pull request cannot change');
      await repositories.lock(tx, repository.id);
      const twin = await pulls.findOpenTwin(tx, { ...pulls.branchesOf(now), baseBranch: base }, pull.id);
      if (twin !== undefined) throw pullExists(twin);
      await changeBase(tx, now, base, { actorId: caller.userId, chosen: true });
    });
  };
  if (wanted.base || typeof wanted.state === 'string')
    await betweenMerges(context, { id: pull.id, repositoryId: repository.id }, apply);
  else await apply(pull);
}

/** Edit rule 5: the new base must exist; the base of a merged pull request stays what it was, silently. */
async function readNewBase(
  { git }: Context,
  pull: pulls.PullWithIssue,
  wanted: string | null | undefined,
): Promise<string | undefined> {
  if (!wanted || wanted === pull.base_branch || pull.merged_at !== null) return undefined;
  if (wanted === pull.head_branch && pull.head_repository_id === pull.repository_id) throw noChanges();
  const tip = isBranchName(wanted) ? await readRef(git, pull.repository_id, branchRef(wanted)) : undefined;
  if (tip === undefined) throw notFound(`new base '${wanted}' not exist`);
  return wanted;
}

/**
 * Edit rule 6: only the poster decides, and only with write access to the head.
 * @throws 403
 */
async function decideMaintainerEdit(
  context: Context,
  caller: Caller,
  found: VisiblePull,
  wanted: boolean | null | undefined,
): Promise<boolean | undefined> {
  if (wanted === undefined || wanted === null) return undefined;
  const { pull } = found;
  const head = pull.poster_id === caller.userId && (await accessToHead(context, caller, found, pull));
  if (!head || !mayWrite(head, 'code')) throw forbidden('SetAllowEdits: user not allowed to do this action');
  return wanted;
}
