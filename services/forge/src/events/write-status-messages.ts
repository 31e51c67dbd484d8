import type { Context } from '../context.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import * as commitStatuses from '../store/repositories/commit-statuses.ts';
import { wireTime } from '../wire-time.ts';
import type { StatusEvent } from './announce.ts';
import { presentPayloadCommits } from './payload-commits.ts';
import type { HookMessage } from './write-messages.ts';

/** What hooks are told of something somebody said of a commit; the state is called `state` here, as when one is made. */
export async function writeStatusMessages(
  context: Context,
  { statusId }: StatusEvent,
  found: VisibleRepository,
  { repository, sender }: { repository: object; sender: object },
): Promise<HookMessage[]> {
  const tx = context.database.autocommit();
  const status = await commitStatuses.findById(tx, found.repository.id, statusId);
  if (status === undefined) return [];
  const [commit = null] = await presentPayloadCommits(context, found, [status.sha]);
  const payload = {
    commit,
    context: status.context,
    created_at: wireTime(status.created_at),
    description: status.description,
    id: status.id,
    repository,
    sender,
    sha: status.sha,
    state: status.state,
    target_url: status.target_url,
    updated_at: wireTime(status.updated_at),
  };
  return [{ type: 'status', payload }];
}
