import type { RunningProgram } from '../broker.ts';
import { gitOptions } from '../environment.ts';
import type { Git } from '../git.ts';

/** Forms in which all files of a commit can be had. */
export const ARCHIVE_FORMATS = ['zip', 'tar.gz'] as const;

/** One of them. */
export type ArchiveFormat = (typeof ARCHIVE_FORMATS)[number];

/**
 * Starts git writing the files of a commit to its standard output, all in one folder.
 * @param archive `paths` are those of files and folders that are there; none for all
 */
export function startArchive(
  git: Git,
  repositoryId: number,
  archive: { commit: string; format: ArchiveFormat; folder: string; paths: readonly string[] },
): Promise<RunningProgram> {
  const { commit, format, folder, paths } = archive;
  const args = ['archive', `--format=${format}`, `--prefix=${folder}/`, commit, '--', ...paths];
  const options = gitOptions(git.folderOf(repositoryId));
  return git.startConfined([...options, ...args], false, { GIT_LITERAL_PATHSPECS: '1' });
}
