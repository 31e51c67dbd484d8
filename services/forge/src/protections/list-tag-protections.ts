import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import { readId } from '../rules/requests/read-id.ts';
import * as tagProtections from '../store/repositories/tag-protections.ts';
import { findAdministrated } from './list-protections.ts';

interface RepositoryPath {
  owner: string;
  repo: string;
}

/**
 * Protections of the tags of a repository, for those who may change them.
 * @throws 403, 404
 */
export async function listTagProtections(
  context: Context,
  caller: Caller,
  path: RepositoryPath,
): Promise<tagProtections.TagProtectionRow[]> {
  const { repository } = await findAdministrated(context, caller, path);
  return await tagProtections.list(context.database.autocommit(), repository.id);
}

/**
 * One of them.
 * @throws 403, 404
 */
export async function showTagProtection(
  context: Context,
  caller: Caller,
  path: RepositoryPath & { id: string },
): Promise<tagProtections.TagProtectionRow> {
  return await findTagProtection(context, await findAdministrated(context, caller, path), path.id);
}

/** @throws 404 */
export async function findTagProtection(
  { database }: Context,
  { repository }: VisibleRepository,
  id: string,
): Promise<tagProtections.TagProtectionRow> {
  const row = await tagProtections.findById(database.autocommit(), repository.id, readId(id));
  if (row === undefined) throw notFound();
  return row;
}
