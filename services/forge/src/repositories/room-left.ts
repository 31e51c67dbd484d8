import type { Context } from '../context.ts';
import { measureStorage } from '../outside/git/upkeep.ts';

/**
 * How many bytes a repository may grow by: what the quota leaves, as the disk has it now. For pushes, before they are
 * taken: git counts while it reads (`receive.maxInputSize`).
 * @returns undefined when there is no quota
 */
export async function roomLeft(
  { settings, git }: Pick<Context, 'settings' | 'git'>,
  repository: { id: number },
): Promise<number | undefined> {
  const { GIT_MAX_REPOSITORY_BYTES: quota } = settings;
  if (quota === 0) return undefined;
  const { bytes } = await measureStorage(git, repository.id);
  return Math.max(0, quota - bytes);
}
