import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { readBodyTime } from '../rules/requests/read-time.ts';
import * as milestones from '../store/issues/milestones.ts';
import type { NewMilestone } from './create-milestone.ts';
import { findMilestone, type MilestonePath } from './find-milestone.ts';

/** Edits a milestone: an empty title leaves it, Go's zero time removes the date, `closed` closes and others reopen. */
export async function editMilestone(
  context: Context,
  caller: Caller,
  path: MilestonePath,
  wanted: Partial<Record<keyof NewMilestone, string | null | undefined>>,
): Promise<milestones.MilestoneRow> {
  const { milestone } = await findMilestone(context, caller, path, 'write');
  return await context.database.transaction(async (tx) => {
    const current = await milestones.lockById(tx, milestone.id);
    if (current === undefined) throw notFound();
    const closes = wanted.state ? wanted.state === 'closed' : current.closed_at !== null;
    const after = await milestones.update(tx, current.id, {
      title: wanted.title || current.title,
      description: wanted.description ?? current.description,
      dueAt: wanted.due_on ? (readBodyTime(wanted.due_on) ?? null) : current.due_at,
      closedAt: closes ? (current.closed_at ?? tx.now) : null,
    });
    if (after === undefined) throw notFound();
    return after;
  });
}
