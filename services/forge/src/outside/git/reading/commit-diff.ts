import type { RunningProgram } from '../broker.ts';
import { gitOptions } from '../environment.ts';
import type { Git } from '../git.ts';

const PLAIN = ['--no-ext-diff', '--no-textconv', '--no-color', '-M', '-p'] as const;

/** Starts git showing what a commit changed, compared with its first parent, on its standard output. */
export function startCommitDiff(
  git: Git,
  repositoryId: number,
  commit: string,
  format: 'diff' | 'patch',
): Promise<RunningProgram> {
  const args =
    format === 'diff'
      ? ['diff-tree', '--root', '--no-commit-id', '-r', '--diff-merges=first-parent', ...PLAIN, commit]
      : ['format-patch', '--binary', '--no-color', '--stdout', '--root', '-1', commit];
  return git.start([...gitOptions(git.folderOf(repositoryId)), ...args], false);
}
