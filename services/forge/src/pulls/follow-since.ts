import type { Context } from '../context.ts';
import * as pulls from '../store/pulls/pulls.ts';
import { bringTip } from './read-head.ts';
import { followHead } from './sync-pulls.ts';

/**
 * A push to a fork looks for pull requests that are to follow it, and stands in no queue of ours. One that moved the head
 * between our look at it and our insert, or our reopening, did not find us: so we look at the head again.
 */
export async function followSince(context: Context, id: number, actorId: number): Promise<void> {
  const pull = await pulls.findById(context.database.autocommit(), id);
  if (pull === undefined || pull.closed_at !== null) return;
  await followHead(context, pull, await bringTip(context, pull, actorId), { actorId, moves: [] });
}
