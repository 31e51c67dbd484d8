import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { findRepository } from '../repositories/find-repository.ts';
import * as watches from '../store/repositories/watches.ts';
import { watchJson, type watchSchema } from './watch-json.ts';

/** The path of a repository. */
interface RepositoryPath {
  owner: string;
  repo: string;
}

/**
 * What the caller chose for a repository.
 * @throws 404 when he chose nothing
 */
export async function showWatch(
  context: Context,
  caller: Caller,
  path: RepositoryPath,
): Promise<z.output<typeof watchSchema>> {
  const found = await findRepository(context, caller, path);
  const row = await watches.find(context.database.autocommit(), found.repository.id, caller.userId);
  if (row === undefined) throw notFound();
  return watchJson(row, found, context.links);
}

/** Lets the caller hear of everything in a repository. */
export async function watchRepository(
  context: Context,
  caller: Caller,
  path: RepositoryPath,
): Promise<z.output<typeof watchSchema>> {
  const found = await findRepository(context, caller, path);
  const row = await watches.watch(context.database.autocommit(), found.repository.id, caller.userId);
  if (row === undefined) throw notFound();
  return watchJson(row, found, context.links);
}

/** The caller no longer hears of what is not his. */
export async function unwatchRepository(
  context: Context,
  caller: Caller,
  path: RepositoryPath,
): Promise<void> {
  const { repository } = await findRepository(context, caller, path);
  await watches.remove(context.database.autocommit(), repository.id, caller.userId);
}
