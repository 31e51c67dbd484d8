import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound, pullExists, unacceptable } from '../failures.ts';
import { changeIssue } from '../issues/change-issue.ts';
import { checkMayEdit, type WantedIssueEdit } from '../issues/edit-issue.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { resolveAssignees } from '../issues/resolve-assignees.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import { checkNotArchived, mayWrite } from '../repositories/find-repository.ts';
import { isBranchName } from '../rules/branch-name.ts';
import { noChanges } from '../rules/head-ref.ts';
import * as pulls from '../store/pulls.ts';
import * as repositories from '../store/repositories.ts';
import { findPull } from './find-pull.ts';

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
  const isWriter = mayWrite(found);
  checkMayEdit(caller, pull, isWriter);
  checkNotArchived(found);
  if (isWriter && wanted.milestone) throw unacceptable(`milestone does not exist [id: ${wanted.milestone}]`);
  const assignees = isWriter ? await resolveAssignees(context, repository, wanted) : undefined;
  const base = isWriter ? await readNewBase(context, pull, wanted.base) : undefined;
  const allowEdit = decideMaintainerEdit(caller, pull, isWriter, wanted.allowMaintainerEdit);

  await context.database.transaction(async (tx) => {
    // A body applies when it is not empty: unlike an issue's, it cannot be cleared.
    const edit = { ...wanted, body: wanted.body || undefined, isWriter, assignees };
    const after = await changeIssue(tx, pull.issue_id, edit);
    if (allowEdit !== undefined) await pulls.updateMaintainerEdit(tx, pull.id, allowEdit);
    if (base === undefined || after.merged_at !== null) return;
    if (after.closed_at !== null) throw unacceptable('the base of a closed pull request cannot change');
    await repositories.lock(tx, repository.id);
    const twin = await pulls.findOpenTwin(tx, { ...pulls.branchesOf(pull), baseBranch: base }, pull.id);
    if (twin !== undefined) throw pullExists(twin.number);
    await pulls.updateBase(tx, pull.id, base);
  });
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

/** Edit rule 6: only the poster decides, and only with write access to the head. */
function decideMaintainerEdit(
  caller: Caller,
  pull: pulls.PullWithIssue,
  isWriter: boolean,
  wanted: boolean | null | undefined,
): boolean | undefined {
  if (wanted === undefined || wanted === null) return undefined;
  if (pull.poster_id !== caller.userId || !isWriter) {
    throw forbidden('SetAllowEdits: user not allowed to do this action');
  }
  return wanted;
}
