import type { Caller } from '../caller/caller.ts';
import { streamFromGit } from '../commits/stream-from-git.ts';
import type { Context } from '../context.ts';
import type { Answer } from '../endpoint.ts';
import { notFound } from '../failures.ts';
import { describeObject, readObject, startReading } from '../outside/git/reading/objects.ts';
import { attachmentName } from '../rules/files/attachment-name.ts';
import { type ContentsPath, findContents } from './find-entry.ts';

/** As git looks for the byte that makes a file binary. */
const LOOKED_AT_BYTES = 8000;

/** A file as it is. A browser that is led here shows text at most: nothing in it may run in our name. */
export async function showRaw(
  context: Context,
  viewer: Caller | undefined,
  path: ContentsPath,
  ref: string | undefined,
): Promise<Answer> {
  const { git } = context;
  const { found, entry } = await findContents(context, viewer, path, ref);
  const { id } = found.repository;
  const info = entry.type === 'blob' ? await describeObject(git, id, entry.id) : undefined;
  if (info === undefined) throw notFound('the path is not a file');
  const whole = await readObject(git, id, info.id, 'skip');
  const { start, body } =
    whole === undefined
      ? await streamFromGit(context, viewer, () => startReading(git, id, info))
      : { start: whole.content, body: whole.content };
  const isText = !start.subarray(0, LOOKED_AT_BYTES).includes(0);
  return {
    status: 200,
    type: isText ? 'text/plain; charset=utf-8' : 'application/octet-stream',
    headers: {
      'content-length': String(info.size),
      'content-disposition': `inline; ${attachmentName(entry.path.slice(entry.path.lastIndexOf('/') + 1))}`,
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    },
    body,
  };
}
