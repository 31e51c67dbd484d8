import type { Tx } from '@croft/sql';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound, unacceptable } from '../failures.ts';
import { dropQueueRefs } from '../merge-queue/queue-refs.ts';
import { removeEntryIn } from '../merge-queue/remove-entry.ts';
import * as members from '../store/people/members.ts';
import * as organizations from '../store/people/organizations.ts';
import * as users from '../store/people/users.ts';
import * as mergeQueue from '../store/pulls/merge-queue.ts';
import { findPerson } from '../users/find-user.ts';

/**
 * Removes somebody's account; what he wrote stays, with a ghost for him. The auth service still knows him: whoever
 * shall stay out is to be banned or deleted there.
 * @throws 422 while he owns repositories, is the last owner of an organization, or has a merge under way
 */
export async function deleteAccount(context: Context, caller: Caller, username: string): Promise<void> {
  const person = await findPerson(context, username);
  if (person.id === caller.userId) throw unacceptable('nobody can remove himself');
  const { id, login } = person;
  const listQueued = (tx: Tx) => mergeQueue.listQueuedBy(tx, id);
  // Their refs first, as everywhere: should the account stay, the queue makes them anew.
  await dropQueueRefs(context.git, await listQueued(context.database.autocommit()));
  const repositories = await context.database.transaction(async (tx) => {
    // Organizations first: owners who are removed at once must not leave one without any.
    const owned = await organizations.lockOwnedBy(tx, id);
    for (const organization of owned) {
      if ((await members.countOwners(tx, organization.id)) === 1) {
        throw unacceptable(`user is the last owner of an organization [name: ${organization.login}]`);
      }
    }
    // Issues before people, as everywhere.
    const queued = await listQueued(tx);
    for (const entry of queued)
      await removeEntryIn(tx, entry, caller.userId, 'the account of who queued it was removed');
    if (!(await users.lockPerson(tx, id))) throw notFound();
    if (await organizations.ownsRepositories(tx, id)) {
      throw unacceptable(`user still has ownership of repositories [name: ${login}]`);
    }
    if (!(await users.removePerson(tx, id))) {
      throw unacceptable(`user has a merge under way [name: ${login}]`);
    }
    return queued.map(({ row }) => row.repository_id);
  });
  for (const repository of new Set(repositories)) context.queues.bell.ring(repository);
}
