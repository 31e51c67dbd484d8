import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound, unacceptable } from '../failures.ts';
import {
  checkAdmin,
  checkNotArchived,
  findRepository,
  type VisibleRepository,
} from '../repositories/find-repository.ts';
import * as branchProtections from '../store/repositories/branch-protections.ts';
import { findProtectionRow } from './list-protections.ts';
import type { ProtectionWish } from './protection-json.ts';
import { readOptions, readRuleName } from './read-options.ts';

/** All of them are read for each push and merge, up to some tens of thousands of characters each. */
const MAX_PROTECTIONS = 100;

interface RepositoryPath {
  owner: string;
  repo: string;
}

/**
 * Protects the branches that a name or glob stands for.
 * @throws 403 also when there is one of this name, 404, 422, 423
 */
export async function createProtection(
  context: Context,
  caller: Caller,
  path: RepositoryPath,
  wish: ProtectionWish & { ruleName: string },
): Promise<branchProtections.BranchProtectionRow> {
  const found = await findToChange(context, caller, path);
  const ruleName = readRuleName(wish.ruleName);
  const options = await readOptions(context, found, wish);
  if ((await branchProtections.count(context.database.autocommit(), found.repository.id)) >= MAX_PROTECTIONS)
    throw unacceptable(`[BranchProtections]: MaxSize(${MAX_PROTECTIONS})`);
  const made = await branchProtections.insert(context.database.autocommit(), found.repository.id, {
    ruleName,
    priority: wish.priority ?? null,
    options,
  });
  if (made === undefined) throw forbidden('Branch protection already exist');
  return made;
}

/**
 * Changes a protection; what a request does not say stays.
 * @throws 403, 404, 422, 423
 */
export async function editProtection(
  context: Context,
  caller: Caller,
  path: RepositoryPath & { name: string },
  wish: ProtectionWish,
): Promise<branchProtections.BranchProtectionRow> {
  const found = await findToChange(context, caller, path);
  const row = await findProtectionRow(context, found, path.name);
  // What is not said is left to the statement, so that of two edits at a time none takes the other's back.
  const before = await readOptions(context, found, wish, row.options);
  const changed = Object.entries(before).filter(([key]) => isSaid(wish[key as keyof ProtectionWish]));
  const after = await branchProtections.update(context.database.autocommit(), row.id, {
    priority: wish.priority ?? null,
    options: Object.fromEntries(changed),
  });
  if (after === undefined) throw notFound();
  context.queues.bell.ring(row.repository_id);
  return after;
}

/**
 * Lifts a protection.
 * @throws 403, 404, 423
 */
export async function removeProtection(
  context: Context,
  caller: Caller,
  path: RepositoryPath & { name: string },
): Promise<void> {
  const found = await findToChange(context, caller, path);
  const row = await findProtectionRow(context, found, path.name);
  await branchProtections.remove(context.database.autocommit(), row.id);
  context.queues.bell.ring(row.repository_id);
}

/**
 * Gives protections the priorities 1, 2, … in the order of their ids: all of them or none.
 * @throws 403, 404, 422 for an id that is none of the repository, or there twice, 423
 */
export async function reorderProtections(
  context: Context,
  caller: Caller,
  path: RepositoryPath,
  ids: readonly number[],
): Promise<void> {
  const { repository } = await findToChange(context, caller, path);
  if (new Set(ids).size < ids.length) throw unacceptable('[Ids]: Unique');
  await context.database.transaction(async (tx) => {
    const changed = await branchProtections.reorder(tx, repository.id, ids);
    if (changed !== ids.length) throw unacceptable('branch protection does not exist');
  });
}

/**
 * A repository for whoever is going to change its protections.
 * @throws 403, 404, 423
 */
export async function findToChange(
  context: Context,
  caller: Caller,
  path: RepositoryPath,
): Promise<VisibleRepository> {
  const found = await findRepository(context, caller, path, 'code');
  checkAdmin(found);
  checkNotArchived(found);
  return found;
}

const isSaid = (value: unknown) => value !== undefined && value !== null;
