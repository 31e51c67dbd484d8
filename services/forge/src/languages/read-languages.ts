import { LRUCache } from 'lru-cache';
import type { Git } from '../outside/git/git.ts';
import { walkTree } from '../outside/git/reading/trees.ts';
import { languageOf } from '../rules/files/languages.ts';

/** A commit's files never change. */
const known = new LRUCache<string, Readonly<Record<string, number>>>({ max: 2_000 });

/** Bytes of a commit's files in each language, most first; undefined when git cannot read them. */
export async function readLanguages(
  git: Git,
  repositoryId: number,
  commit: string,
): Promise<Readonly<Record<string, number>> | undefined> {
  const before = known.get(commit);
  if (before !== undefined) return before;
  const bytes = new Map<string, number>();
  const ended = await walkTree(git, repositoryId, commit, ({ type, mode, path: file, size }) => {
    const language = type === 'blob' && mode !== '120000' ? languageOf(file) : undefined;
    if (language !== undefined) bytes.set(language, (bytes.get(language) ?? 0) + size);
  });
  if (ended === 'failed') return undefined;
  const languages = Object.fromEntries([...bytes].sort((a, b) => b[1] - a[1]));
  known.set(commit, languages);
  return languages;
}
