import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { checkAdmin, findRepository, type VisibleRepository } from '../repositories/find-repository.ts';
import * as branchProtections from '../store/repositories/branch-protections.ts';

interface RepositoryPath {
  owner: string;
  repo: string;
}

/**
 * Protections of a repository, for those who may change them.
 * @throws 403, 404
 */
export async function listProtections(
  context: Context,
  caller: Caller,
  path: RepositoryPath,
): Promise<branchProtections.BranchProtectionRow[]> {
  const { repository } = await findAdministrated(context, caller, path);
  return await branchProtections.list(context.database.autocommit(), repository.id);
}

/**
 * One of them, by its name.
 * @throws 403, 404
 */
export async function showProtection(
  context: Context,
  caller: Caller,
  path: RepositoryPath & { name: string },
): Promise<branchProtections.BranchProtectionRow> {
  return await findProtectionRow(context, await findAdministrated(context, caller, path), path.name);
}

/** @throws 404 */
export async function findProtectionRow(
  { database }: Context,
  { repository }: VisibleRepository,
  name: string,
): Promise<branchProtections.BranchProtectionRow> {
  const row = await branchProtections.findByName(database.autocommit(), repository.id, name);
  if (row === undefined) throw notFound();
  return row;
}

/**
 * A repository for whoever administrates it.
 * @throws 403, 404
 */
export async function findAdministrated(
  context: Context,
  caller: Caller,
  path: RepositoryPath,
): Promise<VisibleRepository> {
  const found = await findRepository(context, caller, path, 'code');
  checkAdmin(found);
  return found;
}
