import type { Git } from '../git.ts';
import { looksLikeDescription } from '../refs.ts';
import { describeObject, describeObjects, type ObjectInfo } from './objects.ts';

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

async function followExactly(git: Git, repositoryId: number, ref: string): Promise<ObjectInfo | undefined> {
  const { code, stdout } = await git.run(repositoryId, ['show-ref', '--verify', '--hash', '--', ref]);
  if (code !== 0) return undefined;
  return await describeObject(git, repositoryId, `${stdout.toString().trim()}^{commit}`);
}
