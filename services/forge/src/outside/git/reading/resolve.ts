import type { Git } from '../git.ts';
import { GitFailed } from '../git-failed.ts';
import { looksLikeDescription, readRefIds } from '../refs.ts';
import { describeObjects, type ObjectInfo } from './objects.ts';
import { inTurn } from './turns.ts';

/**
 * What full refs lead to, tags followed to their commits, in their order; undefined for those that do not exist or lead
 * to no commit. Names must be well-formed.
 */
export async function followRefs(
  git: Git,
  repositoryId: number,
  refs: readonly string[],
): Promise<(string | undefined)[]> {
  const exact = await readRefIds(git, repositoryId, refs.filter(looksLikeDescription));
  const names = refs.map((ref) => (looksLikeDescription(ref) ? exact.get(ref) : ref));
  const found = names.filter((name) => name !== undefined);
  const infos = await describeObjects(
    git,
    repositoryId,
    found.map((name) => `${name}^{commit}`),
  );
  const commits = new Map(found.map((name, index) => [name, infos[index]?.id]));
  return names.map((name) => name && commits.get(name));
}

/**
 * Whether a branch, a tag or a pull request leads to a commit: a walk from there to it, at most over all of the history.
 * @param commit its whole id, or HEAD
 */
export async function isReached(git: Git, repositoryId: number, commit: string): Promise<boolean> {
  // Without those whose push is not decided yet.
  const args = ['rev-list', '--max-count=1', commit, '--not', '--exclude=refs/staged/*', '--all', '--'];
  return await printsNothing(git, repositoryId, args);
}

/** The same for many at once, by their whole ids; one process. */
export async function areReached(
  git: Git,
  repositoryId: number,
  commits: readonly string[],
): Promise<boolean> {
  const args = ['rev-list', '--max-count=1', '--stdin', '--not', '--exclude=refs/staged/*', '--all'];
  return await printsNothing(git, repositoryId, args, `${commits.join('\n')}\n`);
}

/** A history that cannot be walked reaches nothing. */
async function printsNothing(
  git: Git,
  repositoryId: number,
  args: readonly string[],
  input?: string,
): Promise<boolean> {
  try {
    return (await inTurn(git, () => git.output(repositoryId, args, input))).length === 0;
  } catch (error) {
    if (error instanceof GitFailed && error.isForDamage) return false;
    throw error;
  }
}

/** What objects are, by their whole ids; those that are missing have no type. One process, however many they are. */
export async function typesOf(
  git: Git,
  repositoryId: number,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ObjectInfo['type']>> {
  const args = ['cat-file', '--batch-check=%(objectname) %(objecttype)'];
  const listed = await inTurn(git, () => git.output(repositoryId, args, `${ids.join('\n')}\n`));
  const types = new Map<string, ObjectInfo['type']>();
  for (const line of listed.toString('latin1').split('\n')) {
    const [, id = '', type] = /^([0-9a-f]{40}) (commit|tree|blob|tag)$/.exec(line) ?? [];
    if (type !== undefined) types.set(id, type as ObjectInfo['type']);
  }
  return types;
}
