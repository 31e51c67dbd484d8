import type { DiffFormat } from '../../rules/pulls/diff-format.ts';
import type { RunningProgram } from './broker.ts';
import { gitOptions, objectsOf } from './environment.ts';
import type { Git } from './git.ts';

/** Two commits. */
interface Range {
  from: string;
  to: string;
}

const DIFF = ['diff', '--no-ext-diff', '--no-textconv', '--no-color', '-M', '-p'] as const;
const COMMANDS: Record<DiffFormat, (range: Range) => string[]> = {
  diff: ({ from, to }) => [...DIFF, '--end-of-options', from, to],
  'binary-diff': ({ from, to }) => [...DIFF, '--binary', '--histogram', '--end-of-options', from, to],
  // Two dots: with three, the commits that only the base has would be in it as well.
  patch: ({ from, to }) => [
    'format-patch',
    '--binary',
    '--no-color',
    '--stdout',
    '--end-of-options',
    `${from}..${to}`,
  ],
};

/**
 * Starts git showing the changes between two commits on its standard output.
 * @param beside id of another repository, whose objects are needed as well
 */
export function startDiff(
  git: Git,
  repositoryId: number,
  range: Range,
  format: DiffFormat,
  beside?: number,
): Promise<RunningProgram> {
  const args = [...gitOptions(git.folderOf(repositoryId)), ...COMMANDS[format](range)];
  return git.start(args, false, objectsOf(git, beside));
}
