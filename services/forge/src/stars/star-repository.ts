import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { findRepository } from '../repositories/find-repository.ts';
import * as stars from '../store/repositories/stars.ts';

/** The path of a repository. */
interface RepositoryPath {
  owner: string;
  repo: string;
}

/** Gives a repository the caller's star. */
export async function starRepository(context: Context, caller: Caller, path: RepositoryPath): Promise<void> {
  const { repository } = await findRepository(context, caller, path);
  await stars.add(context.database.autocommit(), repository.id, caller.userId);
}

/** Takes the caller's star back. */
export async function unstarRepository(
  context: Context,
  caller: Caller,
  path: RepositoryPath,
): Promise<void> {
  const { repository } = await findRepository(context, caller, path);
  await stars.remove(context.database.autocommit(), repository.id, caller.userId);
}

/** @throws 404 unless the caller starred the repository */
export async function checkStarred(context: Context, caller: Caller, path: RepositoryPath): Promise<void> {
  const { repository } = await findRepository(context, caller, path);
  if (!(await stars.exists(context.database.autocommit(), repository.id, caller.userId))) throw notFound();
}
