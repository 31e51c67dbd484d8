import type { Tx } from '@croft/sql';
import type { IssueEvent } from '../events/announce.ts';
import { describeDeadline } from '../rules/issues/deadline.ts';
import * as comments from '../store/issues/comments.ts';
import type { IssueChange, IssueWithPull } from '../store/issues/issues.ts';
import { milestoneEntry } from './timeline-entries.ts';

/** What others are to be told of an edit. */
export type ToldEdit = Pick<IssueEvent, 'action' | 'changes'>;

/**
 * Writes to the timeline of an issue what an edit changed.
 * @returns what others are to be told
 */
export async function tellEdit(
  tx: Tx,
  before: IssueWithPull,
  after: IssueChange,
  actorId: number,
): Promise<ToldEdit[]> {
  await comments.addAll(tx, { issueId: before.id, posterId: actorId }, entriesOf(before, after));
  const changes = {
    ...(before.title === after.title ? {} : { title: { from: before.title } }),
    ...(before.body === after.body ? {} : { body: { from: before.body } }),
    ...(before.ref === after.ref ? {} : { ref: { from: before.ref } }),
  };
  const told: ToldEdit[] = [];
  if (Object.keys(changes).length > 0) told.push({ action: 'edited', changes });
  if (before.milestone_id !== after.milestone_id) {
    told.push({ action: after.milestone_id === null ? 'demilestoned' : 'milestoned' });
  }
  const wasClosed = before.closed_at !== null;
  if (wasClosed !== (after.closed_at !== null)) told.push({ action: wasClosed ? 'reopened' : 'closed' });
  return told;
}

function entriesOf(before: IssueWithPull, after: IssueChange): comments.TimelineEntry[] {
  const entries: comments.TimelineEntry[] = [];
  if (before.title !== after.title) {
    entries.push({ kind: 'change_title', details: { old_title: before.title, new_title: after.title } });
  }
  if (before.ref !== after.ref) {
    entries.push({ kind: 'change_issue_ref', details: { old_ref: before.ref, new_ref: after.ref } });
  }
  const deadline = describeDeadline(before.deadline_at, after.deadline_at);
  if (deadline !== undefined) entries.push(deadline);
  if (before.milestone_id !== after.milestone_id) {
    entries.push(milestoneEntry(before.milestone_id, after.milestone_id));
  }
  if ((before.closed_at === null) !== (after.closed_at === null)) {
    entries.push({ kind: after.closed_at === null ? 'reopen' : 'close' });
  }
  return entries;
}
