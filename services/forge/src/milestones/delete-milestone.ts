import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import * as milestones from '../store/issues/milestones.ts';
import { findMilestone, type MilestonePath } from './find-milestone.ts';

/** Deletes a milestone; its issues stay, without one. */
export async function deleteMilestone(context: Context, caller: Caller, path: MilestonePath): Promise<void> {
  const { milestone } = await findMilestone(context, caller, path, 'write');
  await milestones.deleteById(context.database.autocommit(), milestone.id);
}
