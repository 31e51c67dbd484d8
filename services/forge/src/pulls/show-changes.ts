import type { Readable } from 'node:stream';
import type { Caller } from '../caller/caller.ts';
import { streamFromGit } from '../commits/stream-from-git.ts';
import type { Context } from '../context.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { startDiff } from '../outside/git/diff.ts';
import { decideDiffFormat } from '../rules/pulls/diff-format.ts';
import { findChangeRange } from './change-range.ts';
import { findPull } from './find-pull.ts';

/** What a pull request changes, as text. */
export async function showChanges(
  context: Context,
  viewer: Caller | undefined,
  path: NumberedPath,
  wanted: { type: 'diff' | 'patch'; binary: string | undefined },
): Promise<Readable> {
  const found = await findPull(context, viewer, path);
  const format = decideDiffFormat(wanted.type, wanted.binary);
  const range = await findChangeRange(context, found);
  const start = () => startDiff(context.git, found.repository.id, range, format);
  return (await streamFromGit(context, viewer, start, context.settings.GIT_DIFF_TIMEOUT)).body;
}
