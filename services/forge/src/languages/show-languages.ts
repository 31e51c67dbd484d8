import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { unacceptable } from '../failures.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { readLanguages } from './read-languages.ts';

/** Bytes of the default branch in each language, most first. */
export async function showLanguages(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string },
): Promise<Readonly<Record<string, number>>> {
  const { git } = context;
  const { repository } = await findRepository(context, viewer, path, 'code');
  const commit = await readRef(git, repository.id, branchRef(repository.default_branch));
  if (commit === undefined) return {};
  const languages = await readLanguages(git, repository.id, commit);
  if (languages === undefined) throw unacceptable('the files cannot be read');
  return languages;
}
