import type { Context } from '../context.ts';
import { presentRelease } from '../releases/present-releases.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import * as releases from '../store/repositories/releases.ts';
import type { ReleaseEvent } from './announce.ts';
import type { HookMessage } from './write-messages.ts';

/** What hooks are told of a release; nothing of one that is gone or a draft again before it could be told of. */
export async function writeReleaseMessages(
  context: Context,
  { action, releaseId, deleted }: ReleaseEvent,
  found: VisibleRepository,
  about: { repository: object; sender: object },
): Promise<HookMessage[]> {
  if (deleted !== undefined) return [{ type: 'release', payload: { action, release: deleted, ...about } }];
  const row = await releases.findById(context.database.autocommit(), found.repository.id, releaseId);
  if (row === undefined || row.published_at === null) return [];
  const release = await presentRelease(context, undefined, { ...found, release: row });
  return [{ type: 'release', payload: { action, release, ...about } }];
}
