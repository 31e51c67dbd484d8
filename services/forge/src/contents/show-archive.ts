import type { Caller } from '../caller/caller.ts';
import { resolveCommit } from '../commits/resolve-commit.ts';
import { streamFromGit } from '../commits/stream-from-git.ts';
import type { Context } from '../context.ts';
import type { Answer } from '../endpoint.ts';
import { notFound } from '../failures.ts';
import { ARCHIVE_FORMATS, startArchive } from '../outside/git/reading/archive.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { attachmentName } from '../rules/files/attachment-name.ts';
import { findEachIn } from './find-entry.ts';

const TYPES = { zip: 'application/zip', 'tar.gz': 'application/gzip' } as const;

/**
 * The files of a commit in one, for a name such as `main.zip` or `v1.0.tar.gz`.
 * @param files the only ones wanted, and folders; none for all
 * @throws 404 without the commit or one of the files
 */
export async function showArchive(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string; archive: string },
  files: readonly string[] = [],
): Promise<Answer> {
  const { archive } = path;
  const found = await findRepository(context, viewer, path, 'code');
  const { repository } = found;
  const format = ARCHIVE_FORMATS.find((one) => archive.endsWith(`.${one}`));
  const ref = archive.slice(0, -(format?.length ?? 0) - 1);
  if (format === undefined || ref === '') throw notFound('archives end with .zip or .tar.gz');
  const { commit } = await resolveCommit(context, found, ref);
  const paths = (await findEachIn(context, found, files, commit)).map((it, index) => {
    if (it === undefined) throw notFound(`${files[index]?.slice(0, 100)} does not exist`);
    return it.entry.path;
  });
  const all = paths.includes('');
  const wanted = { commit, format, folder: repository.name, paths: all ? [] : paths };
  const { body } = await streamFromGit(context, viewer, () =>
    startArchive(context.git, repository.id, wanted),
  );
  const name = `${repository.name}-${ref.replaceAll('/', '-')}.${format}`;
  return {
    status: 200,
    type: TYPES[format],
    headers: {
      'content-disposition': `attachment; ${attachmentName(name)}`,
      'x-content-type-options': 'nosniff',
    },
    body,
  };
}
