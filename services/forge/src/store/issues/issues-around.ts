import { reviveUser, type UserRow } from '../people/users.ts';
import type { PullRow } from '../pulls/pulls.ts';
import { type AttachmentRow, reviveAttachment } from '../tracking/attachments.ts';
import type { Surroundings } from './issues.ts';
import type { LabelCard } from './labels.ts';
import { type MilestoneRow, reviveMilestone } from './milestones.ts';

/** What stands around the issues of a page, each thing once, as `issues_around` tells it; null where there is nothing. */
export interface IssuesAround {
  /** Who wrote the issues and whom they are assigned to. */
  people: UserRow[] | null;
  assigned: { issue_id: number[] | null; user_id: number[] | null };
  /** In the order in which issues show them. */
  labels: LabelCard[] | null;
  labelled: { issue_id: number[] | null; label_id: number[] | null };
  milestones: MilestoneRow[] | null;
  attachments: AttachmentRow[] | null;
  pulls: Pick<PullRow, 'issue_id' | 'id' | 'merged_at'>[] | null;
}

/** The accounts among it, where times came as texts. */
export const peopleOf = (around: IssuesAround | null): UserRow[] => around?.people?.map(reviveUser) ?? [];

/**
 * Gives each issue of a page what stands around it.
 * @param idOf the issue's id, which rows of pull requests call otherwise
 */
export function addSurroundings<Row extends { milestone_id: number | null }>(
  rows: readonly Row[],
  idOf: (row: Row) => number,
  around: IssuesAround | null,
): (Row & Surroundings)[] {
  const each = new Map(rows.map((row) => [idOf(row), emptySurroundings()]));
  const milestones = new Map(around?.milestones?.map((json) => [json.id, reviveMilestone(json)]));
  for (const row of rows) {
    const own = each.get(idOf(row));
    if (own && row.milestone_id !== null) own.milestone = milestones.get(row.milestone_id) ?? null;
  }
  const { labelled, assigned } = around ?? {};
  const issuesOf = new Map<number, number[]>(around?.labels?.map(({ id }) => [id, []]));
  labelled?.label_id?.forEach((id, index) => issuesOf.get(id)?.push(labelled.issue_id?.[index] ?? 0));
  for (const label of around?.labels ?? [])
    for (const id of issuesOf.get(label.id) ?? []) each.get(id)?.labels.push(label);
  assigned?.issue_id?.forEach((id, index) => each.get(id)?.assignee_ids.push(assigned.user_id?.[index] ?? 0));
  for (const file of around?.attachments ?? [])
    each.get(file.issue_id ?? 0)?.attachments.push(reviveAttachment(file));
  for (const pull of around?.pulls ?? []) {
    const own = each.get(pull.issue_id);
    if (own === undefined) continue;
    own.pull_id = pull.id;
    own.merged_at = pull.merged_at && new Date(pull.merged_at);
  }
  return rows.map((row) => ({ ...row, ...(each.get(idOf(row)) ?? emptySurroundings()) }));
}

const emptySurroundings = (): Surroundings => ({
  pull_id: null,
  merged_at: null,
  labels: [],
  milestone: null,
  assignee_ids: [],
  attachments: [],
});
