import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { findIssueHome } from '../labels/find-label-home.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import { readId } from '../rules/requests/read-id.ts';
import * as milestones from '../store/issues/milestones.ts';

/** What a path says of a milestone: its id, or its title. */
export interface MilestonePath {
  owner: string;
  repo: string;
  id: string;
}

/**
 * The milestone a path names.
 * @throws 404, and for `write` 403 and 423
 */
export async function findMilestone(
  context: Context,
  caller: Caller | undefined,
  path: MilestonePath,
  intent: 'read' | 'write',
): Promise<VisibleRepository & { milestone: milestones.MilestoneRow }> {
  const found = await findIssueHome(context, caller, path, intent);
  // A title with NUL cannot be, and cannot be asked for.
  const title = path.id.includes('\0') ? '' : path.id;
  const tx = context.database.autocommit();
  const milestone = await milestones.find(tx, found.repository.id, { id: readId(path.id), title });
  if (milestone === undefined) throw notFound();
  return { ...found, milestone };
}
