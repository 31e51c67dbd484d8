import type { Happening } from '../events/announce.ts';
import type { IssueRow } from '../store/issues/issues.ts';
import type { CreatedWith } from './timeline-entries.ts';

/** What others are to be told of a new issue or pull request: that it is there, and as of later changes what it has. */
export function eventsOfNew(issue: IssueRow, actorId: number, createdWith: CreatedWith): Happening[] {
  const { labelIds, milestoneId, assigneeIds, closed } = createdWith;
  const event = { kind: 'issue', issueId: issue.id, repositoryId: issue.repository_id, actorId } as const;
  const labels = { added: labelIds, removed: [] };
  return [
    { ...event, action: 'opened' },
    ...(labelIds.length === 0 ? [] : [{ ...event, action: 'label_updated' as const, labels }]),
    ...(milestoneId === null ? [] : [{ ...event, action: 'milestoned' as const }]),
    ...assigneeIds.map((assigneeId) => ({ ...event, action: 'assigned' as const, assigneeId })),
    ...(closed ? [{ ...event, action: 'closed' as const }] : []),
  ];
}
