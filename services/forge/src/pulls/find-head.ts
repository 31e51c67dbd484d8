import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { accessTo, mayRead, type VisibleRepository } from '../repositories/find-repository.ts';
import { viewerOf } from '../rules/access/permission.ts';
import type { HeadRef } from '../rules/pulls/head-ref.ts';
import * as users from '../store/people/users.ts';
import type { PullRow } from '../store/pulls/pulls.ts';
import * as network from '../store/repositories/network.ts';
import * as repositories from '../store/repositories/repositories.ts';

/**
 * Create rule 3: who has the head.
 * @throws 404, also for an organization that the caller may not know of, unless he may read such a repository of it
 */
export async function checkHeadOwner(
  context: Context,
  caller: Caller,
  base: VisibleRepository,
  head: HeadRef,
): Promise<void> {
  if (head.user === undefined) return;
  const owner = await users.findVisible(context.database.autocommit(), head.user, viewerOf(caller));
  if ((owner ?? (await seekFork(context, caller, base, head))) === undefined) throw notFound('GetUserByName');
}

/**
 * Create rule 5: the repository of the head, which is the base's own or goes back to the same original.
 * @throws 404 when the user has none whose code the caller may read: a hidden one is as good as none
 */
export async function findHeadRepository(
  context: Context,
  caller: Caller,
  base: VisibleRepository,
  head: HeadRef,
): Promise<VisibleRepository> {
  if (head.user === undefined) return base;
  const found = await seekFork(context, caller, base, head);
  if (found === undefined) throw notFound('GetForkedRepo');
  return found;
}

async function seekFork(
  { database }: Context,
  caller: Caller,
  base: VisibleRepository,
  head: HeadRef,
): Promise<VisibleRepository | undefined> {
  const sought = { repositoryId: base.repository.id, owner: head.user ?? '', repo: head.repo };
  const rows = await network.list(database.autocommit(), sought, caller.userId);
  return rows.flatMap((row) => accessTo(row, caller) ?? []).find((one) => mayRead(one, 'code'));
}

/** The repository of the head of a pull request; undefined when it is gone, or the viewer may not know of it. */
export async function accessToHead(
  { database }: Context,
  viewer: Caller | undefined,
  base: VisibleRepository,
  pull: PullRow,
): Promise<VisibleRepository | undefined> {
  const { head_repository_id: id } = pull;
  if (id === null) return undefined;
  if (id === base.repository.id) return base;
  const [row] = await repositories.listByIds(database.autocommit(), [id], viewer?.userId ?? 0);
  return row && accessTo(row, viewer);
}
