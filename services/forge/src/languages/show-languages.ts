import { LRUCache } from 'lru-cache';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { unacceptable } from '../failures.ts';
import { walkTree } from '../outside/git/reading/trees.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { languageOf } from '../rules/files/languages.ts';

/** A commit's files never change. */
const known = new LRUCache<string, Readonly<Record<string, number>>>({ max: 2_000 });

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
  const before = known.get(commit);
  if (before !== undefined) return before;
  const bytes = new Map<string, number>();
  const ended = await walkTree(git, repository.id, commit, ({ type, mode, path: file, size }) => {
    const language = type === 'blob' && mode !== '120000' ? languageOf(file) : undefined;
    if (language !== undefined) bytes.set(language, (bytes.get(language) ?? 0) + size);
  });
  if (ended === 'failed') throw unacceptable('the files cannot be read');
  const languages = Object.fromEntries([...bytes].sort((a, b) => b[1] - a[1]));
  known.set(commit, languages);
  return languages;
}
