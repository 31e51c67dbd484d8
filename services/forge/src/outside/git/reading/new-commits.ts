import type { Git } from '../git.ts';
import { inTurn } from './turns.ts';

/** More commits of one push are nobody's reading. */
const MAX_COMMITS = 250;

/**
 * Commits that a head has and others do not, oldest first; of very many the newest. None when git cannot read them. One
 * process.
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
  const { code, stdout } = await inTurn(git, () => git.run(repositoryId, args));
  if (code !== 0) return [];
  const lines = stdout.toString('latin1').split('\n');
  return lines.filter((line) => line !== '').reverse();
}
