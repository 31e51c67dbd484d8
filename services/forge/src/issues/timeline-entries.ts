import type { TimelineEntry } from '../store/issues/comments.ts';

/** A label came or went. */
export const labelEntry = (label: { id: number }, change: 'added' | 'removed'): TimelineEntry => ({
  kind: 'label',
  // '1' says that it was added; so does the reference.
  body: change === 'added' ? '1' : '',
  details: { label: label.id },
});

/** Somebody was assigned, or no longer is. */
export const assigneeEntry = (assignee: number, change: 'added' | 'removed'): TimelineEntry => ({
  kind: 'assignees',
  details: { assignee, removed_assignee: change === 'removed' },
});

/** The milestone changed; null stands for none. */
export const milestoneEntry = (from: number | null, to: number | null): TimelineEntry => ({
  kind: 'milestone',
  details: { old_milestone: from, milestone: to },
});

/** What an issue is created with, by ids. */
export interface CreatedWith {
  milestoneId: number | null;
  labelIds: readonly number[];
  assigneeIds: readonly number[];
  closed: boolean;
}

/** What the timeline of a new issue begins with: the same as if each had come later, in the reference's order. */
export function entriesOfNew({ milestoneId, labelIds, assigneeIds, closed }: CreatedWith): TimelineEntry[] {
  return [
    ...(milestoneId === null ? [] : [milestoneEntry(null, milestoneId)]),
    ...labelIds.map((id) => labelEntry({ id }, 'added')),
    ...assigneeIds.map((id) => assigneeEntry(id, 'added')),
    ...(closed ? [{ kind: 'close' }] : []),
  ];
}
