import type { Tx } from '@croft/sql';
import { notFound, pullExists } from '../failures.ts';
import { planEdit, type WantedEdit } from '../rules/issue-edit.ts';
import * as issueAssignees from '../store/issue-assignees.ts';
import * as issues from '../store/issues.ts';
import * as pulls from '../store/pulls.ts';
import * as repositories from '../store/repositories.ts';

/** An edit that was checked as far as that is possible without the row. */
export interface IssueEdit extends WantedEdit {
  isWriter: boolean;
  /** Accounts that replace the assignees; undefined leaves them. */
  assignees: readonly number[] | undefined;
}

/**
 * Edits an issue or the issue half of a pull request: everything, or when something is refused nothing.
 * @throws 409 when reopening would give two open pull requests for the same branches, 412, 422
 */
export async function changeIssue(tx: Tx, issueId: number, edit: IssueEdit): Promise<issues.IssueWithPull> {
  const current = await issues.lockById(tx, issueId);
  if (current === undefined) throw notFound();
  const { result, transition } = planEdit(current, edit, edit.isWriter, tx.now);
  const kind = current.is_pull ? 'pull' : 'issue';
  if (transition !== undefined) {
    // Takes the repository's row first, as creating does: that keeps twins apart.
    await repositories.addClosed(tx, current.repository_id, kind, transition === 'close' ? 1 : -1);
    if (transition === 'reopen' && current.is_pull) await checkNoTwin(tx, current);
  }
  await issues.update(tx, issueId, result);
  if (edit.assignees !== undefined) await issueAssignees.replace(tx, issueId, edit.assignees);
  return { ...current, ...result };
}

async function checkNoTwin(tx: Tx, current: issues.IssueWithPull): Promise<void> {
  const pull = await pulls.findByNumber(tx, current.repository_id, current.number);
  if (pull === undefined) throw notFound();
  const twin = await pulls.findOpenTwin(tx, pulls.branchesOf(pull), pull.id);
  if (twin !== undefined) throw pullExists(twin.number);
}
