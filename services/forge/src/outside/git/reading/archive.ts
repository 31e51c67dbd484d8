import type { RunningProgram } from '../broker.ts';
import { gitOptions } from '../environment.ts';
import type { Git } from '../git.ts';

/** Forms in which all files of a commit can be had. */
export const ARCHIVE_FORMATS = ['zip', 'tar.gz'] as const;

/** One of them. */
export type ArchiveFormat = (typeof ARCHIVE_FORMATS)[number];

/** Starts git writing the files of a commit to its standard output, all in one folder. */
export function startArchive(
  git: Git,
  repositoryId: number,
  archive: { commit: string; format: ArchiveFormat; folder: string },
): Promise<RunningProgram> {
  const { commit, format, folder } = archive;
  const args = ['archive', `--format=${format}`, `--prefix=${folder}/`, commit];
  return git.start([...gitOptions(git.folderOf(repositoryId)), ...args], false);
}
