import { Failure } from '@croft/failure';
import { isUniqueViolation } from '@croft/sql';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound, unacceptable } from '../failures.ts';
import { findOrganization } from '../organizations/find-organization.ts';
import { findActing } from '../repositories/find-acting.ts';
import {
  checkOwner,
  findRepository,
  findRepositoryById,
  type VisibleRepository,
} from '../repositories/find-repository.ts';
import { includes, viewerOf } from '../rules/access/permission.ts';
import * as lostAccess from '../store/people/lost-access.ts';
import * as teamRepositories from '../store/people/team-repositories.ts';
import * as teams from '../store/people/teams.ts';
import * as users from '../store/people/users.ts';
import * as repositories from '../store/repositories/repositories.ts';
import * as repositoryTransfers from '../store/repositories/repository-transfers.ts';

const EVERYTHING = { limit: 1000, offset: 0 };

/**
 * Gives a repository away: at once to an owner in whose name the caller may act, else when that owner says yes.
 * @throws 403, 404 for an owner nobody has or that the caller may not know of, 422
 */
export async function transferRepository(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
  wanted: { newOwner: string; teamIds: readonly number[] },
): Promise<VisibleRepository> {
  const found = await findRepository(context, caller, path);
  checkOwner(found);
  const { repository, owner } = found;
  const tx = context.database.autocommit();
  const target = await users.findVisible(tx, wanted.newOwner, viewerOf(caller));
  if (target === undefined) throw notFound('The new owner does not exist or cannot be found');
  const mayActFor = await speaksFor(context, caller, target);
  if (target.id === owner.id) throw unacceptable('the repository belongs to this owner already');
  await checkTeams(context, caller, target, wanted.teamIds);
  if (mayActFor) {
    await giveAway(context, found, target, wanted.teamIds);
    return await seenAfter(context, caller, found, target);
  }
  const order = {
    repositoryId: repository.id,
    doerId: caller.userId,
    recipientId: target.id,
    teamIds: wanted.teamIds,
  };
  if (!(await repositoryTransfers.insert(tx, order)))
    throw unacceptable('the repository waits for another transfer already');
  return await findRepositoryById(context, caller, repository.id);
}

/**
 * Takes what somebody wants to give, as long as it is his to give.
 * @throws 403 when it is for somebody else, 404 when nothing is given
 */
export async function acceptTransfer(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
): Promise<VisibleRepository> {
  const { found, transfer } = await findTransfer(context, caller, path);
  const giver = await findActing(context, transfer.doer_id, found.repository.id);
  if (giver === undefined || !includes(giver.found.permission.level, 'owner'))
    throw forbidden('whoever gives the repository away does not own it any more');
  await giveAway(context, found, transfer.recipient, transfer.team_ids);
  return await seenAfter(context, caller, found, transfer.recipient);
}

/**
 * Says no to what somebody wants to give; owners of the repository may take it back.
 * @throws 403 for anybody else, 404 when nothing is given
 */
export async function rejectTransfer(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
): Promise<VisibleRepository> {
  const { found } = await findTransfer(context, caller, path, 'giver too');
  if ((await repositoryTransfers.remove(context.database.autocommit(), found.repository.id)) === undefined)
    throw notFound('no pending transfer');
  return found;
}

/** The recipient gets to see what he is given, on these two paths: it may be private. */
async function findTransfer(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
  who: 'recipient' | 'giver too' = 'recipient',
) {
  const tx = context.database.autocommit();
  const row = await repositories.findByName(tx, path.owner, path.repo, caller.userId);
  // Also when there is none: time must not tell it from one that the caller may not know of.
  const ids = row === undefined ? [] : [row.id];
  const [transfer] = await repositoryTransfers.listByRepositories(tx, ids, viewerOf(caller));
  if (row === undefined || transfer === undefined) {
    await findRepository(context, caller, path);
    throw notFound('no pending transfer');
  }
  // Credentials for public things show nothing else, to the recipient neither.
  if (caller.publicOnly && (row.private || row.owner.visibility !== 'public')) throw notFound();
  const mayDecide = await speaksFor(context, caller, transfer.recipient).catch((error: unknown) => {
    // An organization he may not know of, or that has another name since a moment ago.
    if (error instanceof Failure) return false;
    throw error;
  });
  if (!mayDecide) {
    const found = await findRepository(context, caller, path);
    if (who === 'giver too') {
      checkOwner(found);
      return { found, transfer };
    }
    throw forbidden('user does not have the right to decide on this transfer');
  }
  const permission = { level: 'read', units: { code: 'read', issues: 'read', pulls: 'read' } } as const;
  const found = { repository: row, owner: row.owner, permission, isMember: row.is_member };
  return { found, transfer };
}

/**
 * Whether somebody may take repositories in another's name: his own, an organization's in which he may make some, and
 * a site administrator everybody's.
 * @throws 404 for an organization he may not know of
 */
async function speaksFor(context: Context, caller: Caller, target: users.UserRow): Promise<boolean> {
  if (target.kind === 'organization') return (await findOrganization(context, caller, target.login)).creates;
  return caller.userId === target.id || caller.isAdmin;
}

async function checkTeams(
  context: Context,
  caller: Caller,
  target: users.UserRow,
  teamIds: readonly number[],
): Promise<void> {
  if (teamIds.length === 0) return;
  if (target.kind !== 'organization')
    throw unacceptable('only repositories of organizations can be given to teams');
  const { isMember } = await findOrganization(context, caller, target.login);
  const all = { part: '', inDescriptions: false };
  const tx = context.database.autocommit();
  // Teams are for members: others could try numbers through.
  const known = isMember
    ? (await teams.listOfOrganization(tx, target.id, viewerOf(caller), all, EVERYTHING)).teams
    : [];
  const unknown = teamIds.find((id) => !known.some((team) => team.id === id));
  if (unknown !== undefined) throw forbidden(`team ${unknown} does not belong to the organization`);
}

async function giveAway(
  { database }: Context,
  { repository, owner }: Pick<VisibleRepository, 'repository' | 'owner'>,
  target: users.UserRow,
  teamIds: readonly number[],
): Promise<void> {
  try {
    await database.transaction(async (tx) => {
      // Whoever had it in between gave it to somebody else: this is about a repository of the old owner.
      if (!(await repositories.changeOwner(tx, repository.id, owner.id, target.id))) throw notFound();
      await repositoryTransfers.remove(tx, repository.id);
      for (const team of teamIds) await teamRepositories.add(tx, team, repository.id);
      await lostAccess.forget(tx, { repositoryId: repository.id });
      if (repository.fork_of !== null) await repositories.countForks(tx, repository.fork_of);
    });
  } catch (error) {
    if (isUniqueViolation(error, 'repositories_name_key_key'))
      throw unacceptable(`the new owner has a repository of this name already [name: ${repository.name}]`);
    throw error;
  }
}

/** Whoever gives a private repository away may not see it any more; he is told what became of it all the same. */
async function seenAfter(
  context: Context,
  caller: Caller,
  before: VisibleRepository,
  owner: users.UserRow,
): Promise<VisibleRepository> {
  return await findRepositoryById(context, caller, before.repository.id).catch(() => ({
    ...before,
    owner,
    permission: { level: 'none', units: { code: 'none', issues: 'none', pulls: 'none' } } as const,
    isMember: false,
  }));
}
