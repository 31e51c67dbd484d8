import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { describeObject, readObject, readStart } from '../outside/git/reading/objects.ts';

/** Larger files come without their content; `GET /settings/api` says so. */
const MAX_BLOB_BYTES = 10 * 1024 * 1024;

/**
 * The content of a blob; undefined when it is larger than the limit.
 * @throws 404 when there is none, or it is damaged
 */
export async function readBlob(
  { git }: Context,
  repositoryId: number,
  id: string,
  limit = MAX_BLOB_BYTES,
): Promise<Buffer | undefined> {
  const info = await describeObject(git, repositoryId, id);
  if (info?.type !== 'blob') throw notFound('the blob does not exist');
  if (info.size > limit) return undefined;
  const short = await readObject(git, repositoryId, info.id, 'skip');
  const content = short?.content ?? (await readStart(git, repositoryId, info, info.size));
  if (content === undefined) throw notFound('the blob cannot be read');
  return content;
}
