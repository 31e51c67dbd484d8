import type { Context } from '../context.ts';
import type { HookEventType } from '../rules/events/hook-events.ts';
import { GHOST } from '../store/people/users.ts';
import { userJson } from '../users/user-json.ts';
import type { RepositoryEvent } from './announce.ts';
import type { EventLoads } from './event-loads.ts';
import { ownedBy, type Place } from './place.ts';
import type { HookMessage } from './write-messages.ts';

/** What hooks are told of a repository as a whole; of one that is gone, the hooks of its owner and of the system. */
export async function writeRepositoryMessages(
  { links }: Context,
  loads: EventLoads,
  event: RepositoryEvent,
  { found, ownerId }: Place,
  sender: object,
  type: HookEventType,
): Promise<HookMessage[]> {
  const repository = found === undefined ? event.deleted?.repository : await loads.repositoryJson(found);
  if (event.action === 'forked') {
    const fork = event.forkId === undefined ? undefined : await loads.repository(event.forkId);
    const forkOwner = fork && (await loads.account(fork.owner_id));
    if (fork === undefined || forkOwner === undefined) return [];
    // Who administrates the original need not know of every fork, nor of the organization that has it.
    const isHidden = fork.private && found?.repository.private !== true;
    if (isHidden || forkOwner.visibility !== 'public') return [];
    // As the reference names them: what was forked, and what it became.
    const made = await loads.repositoryJson(ownedBy(forkOwner, fork));
    return [{ type, payload: { forkee: repository, repository: made, sender } }];
  }
  const owner = (await loads.account(ownerId)) ?? GHOST;
  // Whoever owns it, also a person: so does the reference.
  const organization = userJson(owner, undefined, links);
  return [{ type, payload: { action: event.action, repository, organization, sender } }];
}
