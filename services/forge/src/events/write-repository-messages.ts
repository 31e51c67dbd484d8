import type { Context } from '../context.ts';
import { presentRepository } from '../repositories/present-repositories.ts';
import type { HookEventType } from '../rules/events/hook-events.ts';
import * as users from '../store/people/users.ts';
import * as repositories from '../store/repositories/repositories.ts';
import { userJson } from '../users/user-json.ts';
import type { RepositoryEvent } from './announce.ts';
import { ownedBy, type Place } from './place.ts';
import type { HookMessage } from './write-messages.ts';

/** What hooks are told of a repository as a whole; of one that is gone, the hooks of its owner and of the system. */
export async function writeRepositoryMessages(
  context: Context,
  event: RepositoryEvent,
  { found, ownerId }: Place,
  actor: users.UserRow,
  type: HookEventType,
): Promise<HookMessage[]> {
  const { database, links } = context;
  const tx = database.autocommit();
  const sender = userJson(actor, undefined, links);
  const repository =
    found === undefined ? event.deleted?.repository : await presentRepository(context, undefined, found);
  if (event.action === 'forked') {
    const fork = event.forkId === undefined ? undefined : await repositories.findById(tx, event.forkId);
    if (fork === undefined) return [];
    const forkee = ownedBy(await users.getById(tx, fork.owner_id), fork);
    // Who administrates the original need not know of every fork, nor of the organization that has it.
    const isHidden = fork.private && found?.repository.private !== true;
    if (isHidden || forkee.owner.visibility !== 'public') return [];
    return [
      { type, payload: { forkee: await presentRepository(context, undefined, forkee), repository, sender } },
    ];
  }
  const owner = (await users.mapByIds(tx, [ownerId])).get(ownerId) ?? users.GHOST;
  const organization = owner.kind === 'organization' ? userJson(owner, undefined, links) : null;
  return [{ type, payload: { action: event.action, repository, organization, sender } }];
}
