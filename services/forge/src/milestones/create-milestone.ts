import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { findIssueHome } from '../labels/find-label-home.ts';
import { readBodyTime } from '../rules/requests/read-time.ts';
import * as milestones from '../store/issues/milestones.ts';

/** What a request says of a new milestone. */
export interface NewMilestone {
  title: string;
  description?: string | null | undefined;
  due_on?: string | null | undefined;
  state?: string | null | undefined;
}

/** Creates a milestone; `closed` makes a closed one, every other state an open one. */
export async function createMilestone(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
  wanted: NewMilestone,
): Promise<milestones.MilestoneRow> {
  const { repository } = await findIssueHome(context, caller, path, 'write');
  const tx = context.database.autocommit();
  return await milestones.insert(tx, repository.id, {
    title: wanted.title,
    description: wanted.description ?? '',
    dueAt: readBodyTime(wanted.due_on) ?? null,
    closedAt: wanted.state === 'closed' ? tx.now : null,
  });
}
