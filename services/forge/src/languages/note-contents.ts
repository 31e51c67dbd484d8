import type { Context } from '../context.ts';
import { branchRef, listBranches, readRef } from '../outside/git/refs.ts';
import * as contents from '../store/repositories/contents.ts';
import { readLanguages } from './read-languages.ts';
import { readLicenses } from './read-licenses.ts';

/**
 * Notes in a repository's row what lists show of its contents: language, licences, and the number of branches where
 * nobody counted them yet. Lists themselves never ask git.
 */
export async function noteContents(
  { database, git }: Pick<Context, 'database' | 'git'>,
  repositoryId: number,
): Promise<void> {
  const tx = database.autocommit();
  const known = await contents.find(tx, repositoryId);
  if (known === undefined) return;
  const commit = await readRef(git, repositoryId, branchRef(known.default_branch));
  const languages = commit && (await readLanguages(git, repositoryId, commit));
  const licenses = commit && (await readLicenses(git, repositoryId, commit));
  await contents.note(tx, repositoryId, {
    language: Object.keys(languages || {})[0] ?? '',
    licenses: licenses || [],
    branches: known.branches ?? (await listBranches(git, repositoryId)).length,
  });
}
