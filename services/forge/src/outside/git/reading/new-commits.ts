import type { Git } from '../git.ts';
import { GitFailed } from '../git-failed.ts';
import { inTurn } from './turns.ts';

/** More commits of one push are nobody's reading. */
const MAX_COMMITS = 250;

/**
 * Commits that a head has and others do not, oldest first; of very many the newest. None when one of them
 * cannot be read. One process.
 */
export async function listNewCommits(
  git: Git,
  repositoryId: number,
  head: string,
  not: readonly string[],
): Promise<string[]> {
  const args = [
    'rev-list',
    '--topo-order',
    `--max-count=${MAX_COMMITS}`,
    head,
    ...not.map((id) => `^${id}`),
    '--',
  ];
  try {
    const listed = await inTurn(git, () => git.output(repositoryId, args));
    const lines = listed.toString('latin1').split('\n');
    return lines.filter((line) => line !== '').reverse();
  } catch (error) {
    if (error instanceof GitFailed && error.isForDamage) return [];
    throw error;
  }
}
