import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound, unacceptable } from '../failures.ts';
import { dropQueueRefs } from '../merge-queue/queue-refs.ts';
import { removeEntryIn } from '../merge-queue/remove-entry.ts';
import { branchQueue } from '../pulls/sync-pulls.ts';
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
  const queued = await mergeQueue.listQueuedBy(context.database.autocommit(), id);
  const repositories = [...new Set(queued.map(({ row }) => row.repository_id))].sort((a, b) => a - b);
  // What moves branches of these waits: nobody makes a ref anew whose row is about to go.
  const remove = repositories.reduce(
    (work, repository) => () => context.queues.inTurn(branchQueue(repository), work),
    () => removeAccount(context, caller, { id, login }),
  );
  try {
    await remove();
  } finally {
    for (const repository of repositories) context.queues.bell.ring(repository);
  }
}

/** For whoever has the queues of the branches into which he has something to merge. */
async function removeAccount(
  context: Context,
  caller: Caller,
  { id, login }: { id: number; login: string },
): Promise<void> {
  // Their refs first, as everywhere: should the account stay, the queue makes them anew.
  await dropQueueRefs(context.git, await mergeQueue.listQueuedBy(context.database.autocommit(), id));
  await context.database.transaction(async (tx) => {
    // Organizations first: owners who are removed at once must not leave one without any.
    const owned = await organizations.lockOwnedBy(tx, id);
    for (const organization of owned) {
      if ((await members.countOwners(tx, organization.id)) === 1) {
        throw unacceptable(`user is the last owner of an organization [name: ${organization.login}]`);
      }
    }
    // Issues before people, as everywhere.
    const queued = await mergeQueue.listQueuedBy(tx, id);
    for (const entry of queued)
      await removeEntryIn(tx, entry, caller.userId, 'the account of who queued it was removed');
    if (!(await users.lockPerson(tx, id))) throw notFound();
    if (await organizations.ownsRepositories(tx, id)) {
      throw unacceptable(`user still has ownership of repositories [name: ${login}]`);
    }
    if (!(await users.removePerson(tx, id))) {
      throw unacceptable(`user has a merge under way [name: ${login}]`);
    }
  });
}
