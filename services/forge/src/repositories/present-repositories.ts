import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { includes, viewerOf } from '../rules/access/permission.ts';
import * as repositories from '../store/repositories/repositories.ts';
import * as repositoryTransfers from '../store/repositories/repository-transfers.ts';
import { teamJson } from '../teams/team-json.ts';
import { userJson } from '../users/user-json.ts';
import { accessTo, type VisibleRepository } from './find-repository.ts';
import { repositoryJson, type repositorySchema } from './repository-json.ts';

/** Repositories as their viewer gets them: two statements, however many there are. */
export async function presentRepositories(
  { database, links }: Context,
  viewer: Caller | undefined,
  list: readonly VisibleRepository[],
): Promise<z.output<typeof repositorySchema>[]> {
  const tx = database.autocommit();
  const parentIds = list.flatMap(({ repository }) => repository.fork_of ?? []);
  const [parents, transfers] = await Promise.all([
    parentIds.length === 0 ? [] : repositories.listByIds(tx, parentIds, viewer?.userId ?? 0),
    repositoryTransfers.listByRepositories(
      tx,
      list.map(({ repository }) => repository.id),
      viewerOf(viewer),
    ),
  ]);
  // A parent that the viewer may not know of is as good as none.
  const parentOf = new Map(parents.map((row) => [row.id, accessTo(row, viewer)]));
  const transferOf = new Map(transfers.map((row) => [row.repository_id, row]));
  return list.map((found) => {
    const { id, fork_of: forkOf } = found.repository;
    const transfer = transferOf.get(id);
    return repositoryJson(found, viewer, links, {
      parent: forkOf === null ? undefined : parentOf.get(forkOf),
      transfer: transfer &&
        mayKnowOf(transfer, found, viewer) && {
          doer: userJson(transfer.doer, viewer, links),
          recipient: userJson(transfer.recipient, viewer, links),
          teams: transfer.teams.map((team) => teamJson(team, transfer.recipient, viewer, links)),
        },
    });
  });
}

/** Who gives and who is asked is their business: to the others who administrate it a private organization is not told. */
function mayKnowOf(
  transfer: repositoryTransfers.TransferWithPeople,
  { permission }: VisibleRepository,
  viewer: Caller | undefined,
): boolean {
  if (viewer === undefined) return false;
  const isGiver = transfer.doer_id === viewer.userId && !viewer.publicOnly;
  if (!transfer.is_known && !isGiver) return false;
  return includes(permission.level, 'admin') || transfer.is_asked;
}

/** A single one. */
export async function presentRepository(
  context: Context,
  viewer: Caller | undefined,
  found: VisibleRepository,
): Promise<z.output<typeof repositorySchema>> {
  const [json] = await presentRepositories(context, viewer, [found]);
  if (json === undefined) throw new Error('a repository was not presented');
  return json;
}
