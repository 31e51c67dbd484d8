import { availableParallelism } from 'node:os';
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

/**
 * Most memory of a git process, and of each that it starts, files that are mapped not counted: a delta of a few bytes may say
 * that it makes gigabytes, which git would allocate.
 */
export const MAX_MEMORY_BYTES = 2 * 1024 * 1024 * 1024;

/**
 * The same for what merges, and what makes archives. Merging takes 250 bytes for each of a file of nothing but line breaks and six for
 * each of an ordinary one: so one of four megabytes can be merged, or one of a hundred and more.
 */
export const MAX_WORKING_MEMORY_BYTES = 1024 * 1024 * 1024;

/** Starts a program with no more memory than this. Where the system has no such limit it goes without. */
export function confined(
  maxMemoryBytes: number,
  command: string,
  args: readonly string[],
): [string, string[]] {
  const kilobytes = String(Math.ceil(maxMemoryBytes / 1024));
  return ['/bin/sh', ['-c', 'ulimit -S -d "$0" 2>/dev/null; exec "$@"', kilobytes, command, ...args]];
}

/** Of one process that makes packs. */
const MAX_THREADS = 16;

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
  // Larger files are compared as binary ones are, and not kept in memory to be sent: comparing takes up to 43 bytes for each byte
  // of both sides, here a third of a gigabyte at most. Merging does not ask for it.
  'core.bigFileThreshold': '4m',
  // Each thread counts as eight megabytes of memory, whatever it takes.
  'pack.threads': String(Math.min(availableParallelism(), MAX_THREADS)),
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
