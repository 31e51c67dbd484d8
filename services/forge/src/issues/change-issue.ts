import type { Tx } from '@croft/sql';
import { announce, type Happening, type IssueEvent } from '../events/announce.ts';
import { contentChanged, notFound, openDependencies, pullExists } from '../failures.ts';
import { applyLabels } from '../labels/change-issue-labels.ts';
import { planEdit, type WantedEdit } from '../rules/issues/issue-edit.ts';
import * as comments from '../store/issues/comments.ts';
import * as dependencies from '../store/issues/dependencies.ts';
import * as issueAssignees from '../store/issues/issue-assignees.ts';
import * as issues from '../store/issues/issues.ts';
import type { LabelCard } from '../store/issues/labels.ts';
import type { MilestoneRow } from '../store/issues/milestones.ts';
import * as mergeQueue from '../store/pulls/merge-queue.ts';
import * as pulls from '../store/pulls/pulls.ts';
import * as repositories from '../store/repositories/repositories.ts';
import { finishStopwatch } from '../tracking/stopwatch.ts';
import { tellEdit } from './tell-edit.ts';
import { assigneeEntry } from './timeline-entries.ts';

/** An edit that was checked as far as that is possible without the row; what is undefined stays. */
export interface IssueEdit extends WantedEdit {
  actorId: number;
  isWriter: boolean;
  /** Accounts that replace the assignees. */
  assignees?: readonly { id: number }[] | undefined;
  /** Labels that replace the labels. */
  labels?: readonly LabelCard[] | undefined;
  /** Null takes the milestone away. */
  milestone?: MilestoneRow | null | undefined;
  /** The version of the content that the editor saw. */
  contentVersion?: number | null | undefined;
  /** Of a pull request, the base that it gets together with this. */
  base?: string | undefined;
}

/**
 * Edits an issue or the issue half of a pull request: everything, or when something is refused nothing.
 * @throws 409 when somebody edited the content meanwhile, and when reopening would give two open pull requests for the
 * same branches, 412 for a state it cannot have, 422
 */
export async function changeIssue(tx: Tx, issueId: number, edit: IssueEdit): Promise<issues.IssueWithPull> {
  const current = await issues.lockById(tx, issueId);
  if (current === undefined) throw notFound();
  const { contentVersion } = edit;
  if (contentVersion !== undefined && contentVersion !== null && contentVersion !== current.content_version) {
    throw contentChanged();
  }
  const { result, transition } = planEdit(current, edit, edit.isWriter, tx.now);
  const kind = current.is_pull ? 'pull' : 'issue';
  if (transition === 'close' && (await dependencies.hasOpen(tx, issueId))) throw openDependencies(kind);
  if (transition !== undefined) {
    // Takes the repository's row first, as creating does: that keeps twins apart.
    await repositories.addClosed(tx, current.repository_id, kind, transition === 'close' ? 1 : -1);
    if (transition === 'close' && current.is_pull) await mergeQueue.end(tx, issueId);
    if (transition === 'reopen' && current.is_pull) await checkNoTwin(tx, current, edit.base);
  }
  const rewritten = result.title !== current.title || result.body !== current.body;
  const change: issues.IssueChange = {
    ...result,
    milestone_id: edit.milestone === undefined ? current.milestone_id : (edit.milestone?.id ?? null),
    content_version: current.content_version + (rewritten ? 1 : 0),
  };
  await issues.update(tx, issueId, change);
  const told = await tellEdit(tx, current, change, edit.actorId);
  if (transition === 'close') await finishStopwatch(tx, issueId, edit.actorId);
  const assigned = edit.assignees && (await assign(tx, current, edit.assignees, edit.actorId));
  const labelled = edit.labels && { how: 'replace' as const, labels: edit.labels };
  if (labelled) await applyLabels(tx, current, edit.actorId, labelled);
  const where = {
    kind: 'issue',
    issueId,
    repositoryId: current.repository_id,
    actorId: edit.actorId,
  } as const;
  const events: IssueEvent[] = [...told, ...(assigned ?? [])].map((event) => ({ ...where, ...event }));
  await announce(tx, ...(events as Happening[]));
  return { ...current, ...change };
}

/**
 * Replaces the assignees of an issue that is held, and writes that to its timeline.
 * @returns what others are to be told, of each of them
 */
export async function assign(
  tx: Tx,
  issue: issues.IssueWithPull,
  assignees: readonly { id: number }[],
  actorId: number,
): Promise<{ action: 'assigned' | 'unassigned'; assigneeId: number }[]> {
  const wanted = assignees.map(({ id }) => id);
  const added = wanted.filter((id) => !issue.assignee_ids.includes(id));
  const removed = issue.assignee_ids.filter((id) => !wanted.includes(id));
  const isSame =
    wanted.length === issue.assignee_ids.length && wanted.every((id, at) => issue.assignee_ids[at] === id);
  if (isSame) return [];
  await issueAssignees.replace(tx, issue.id, wanted);
  await comments.addAll(tx, { issueId: issue.id, posterId: actorId }, [
    ...removed.map((id) => assigneeEntry(id, 'removed')),
    ...added.map((id) => assigneeEntry(id, 'added')),
  ]);
  return [
    ...removed.map((assigneeId) => ({ action: 'unassigned' as const, assigneeId })),
    ...added.map((assigneeId) => ({ action: 'assigned' as const, assigneeId })),
  ];
}

async function checkNoTwin(tx: Tx, current: issues.IssueWithPull, base?: string): Promise<void> {
  const pull = await pulls.findByNumber(tx, current.repository_id, current.number);
  if (pull === undefined) throw notFound();
  const branches = pulls.branchesOf(pull);
  const twin = await pulls.findOpenTwin(
    tx,
    { ...branches, baseBranch: base ?? branches.baseBranch },
    pull.id,
  );
  if (twin !== undefined) throw pullExists(twin);
}
