import type { Git } from '../git.ts';
import { looksLikeDescription } from '../refs.ts';
import { describeObject, describeObjects, type ObjectInfo } from './objects.ts';
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
  const plain = refs.map((ref) => (looksLikeDescription(ref) ? undefined : ref));
  const infos = await describeObjects(
    git,
    repositoryId,
    plain.filter((ref) => ref !== undefined).map((ref) => `${ref}^{commit}`),
  );
  let next = 0;
  return await Promise.all(
    plain.map(async (ref, index) => {
      const info =
        ref === undefined ? await followExactly(git, repositoryId, refs[index] as string) : infos[next++];
      return info?.id;
    }),
  );
}

/**
 * Whether a branch, a tag or a pull request leads to a commit: a walk from there to it, at most over all of the history.
 * @param commit its whole id, or HEAD
 */
export async function isReached(git: Git, repositoryId: number, commit: string): Promise<boolean> {
  // Without those whose push is not decided yet.
  const args = ['rev-list', '--max-count=1', commit, '--not', '--exclude=refs/staged/*', '--all'];
  const { code, stdout } = await inTurn(git, () => git.run(repositoryId, args));
  return code === 0 && stdout.length === 0;
}

/** The same for many at once, by their whole ids; one process. */
export async function areReached(
  git: Git,
  repositoryId: number,
  commits: readonly string[],
): Promise<boolean> {
  const args = ['rev-list', '--max-count=1', '--stdin', '--not', '--exclude=refs/staged/*', '--all'];
  const { code, stdout } = await inTurn(git, () => git.run(repositoryId, args, `${commits.join('\n')}\n`));
  return code === 0 && stdout.length === 0;
}

/** What objects are, by their whole ids; those that are missing have no type. One process, however many they are. */
export async function typesOf(
  git: Git,
  repositoryId: number,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ObjectInfo['type']>> {
  const args = ['cat-file', '--batch-check=%(objectname) %(objecttype)'];
  const { stdout } = await inTurn(git, () => git.run(repositoryId, args, `${ids.join('\n')}\n`));
  const types = new Map<string, ObjectInfo['type']>();
  for (const line of stdout.toString('latin1').split('\n')) {
    const [, id = '', type] = /^([0-9a-f]{40}) (commit|tree|blob|tag)$/.exec(line) ?? [];
    if (type !== undefined) types.set(id, type as ObjectInfo['type']);
  }
  return types;
}

async function followExactly(git: Git, repositoryId: number, ref: string): Promise<ObjectInfo | undefined> {
  const { code, stdout } = await git.run(repositoryId, ['show-ref', '--verify', '--hash', '--', ref]);
  if (code !== 0) return undefined;
  return await describeObject(git, repositoryId, `${stdout.toString().trim()}^{commit}`);
}
