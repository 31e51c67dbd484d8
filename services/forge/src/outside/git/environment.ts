import { join } from 'node:path';

/**
 * All a git process finds in its environment, besides where programs are: nothing of the machine's, the user's or our own
 * configuration, and no terminal to ask a question on.
 */
export const GIT_ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ATTR_NOSYSTEM: '1',
  HOME: '/nonexistent',
  LC_ALL: 'C',
};

/** Configuration of every git process; it reaches the processes git starts in turn. */
const COMMON: Readonly<Record<string, string>> = {
  // What objects and refs hold is on the disk before anybody is told that they are there; their names are by syncRefs.
  'core.fsync': 'all',
  // Collecting garbage in the middle of a push would compete with it; maintenance has its own time.
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'core.hooksPath': '/dev/null',
  // git is never asked to reach another repository by itself.
  'protocol.allow': 'never',
  // Aborts in a bare repository with an assertion (git 2.39).
  'merge.renormalize': 'false',
  // A lock held by another git process is waited for this long, in milliseconds.
  'core.filesRefLockTimeout': '1000',
  // Folders are opened by id only, so whose they are is not a question (container volumes often belong to root).
  'safe.directory': '*',
};

/** The options before the subcommand: configuration, and the repository unless the subcommand takes it itself. */
export function gitOptions(
  folder: string | undefined,
  extra: readonly (readonly [string, string])[] = [],
): string[] {
  const configuration = [...Object.entries(COMMON), ...extra].flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  return folder === undefined ? configuration : [...configuration, `--git-dir=${folder}`];
}

/** Lets a git process read the objects of another repository, too, as long as it lives. */
export function objectsOf(
  git: { folderOf(id: number): string },
  repositoryId: number | undefined,
): Record<string, string> {
  if (repositoryId === undefined) return {};
  return { GIT_ALTERNATE_OBJECT_DIRECTORIES: join(git.folderOf(repositoryId), 'objects') };
}
