import type { Readable } from 'node:stream';
import type { Caller } from '../caller/caller.ts';
import { streamFromGit } from '../commits/stream-from-git.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { startDiff } from '../outside/git/diff.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import { mayRead } from '../repositories/find-repository.ts';
import { decideDiffFormat } from '../rules/pulls/diff-format.ts';
import type { PullWithIssue } from '../store/pulls/pulls.ts';
import type { RepositoryRow } from '../store/repositories/repositories.ts';
import { findPull } from './find-pull.ts';

/** What a pull request changes, as text: from the merge base, which is frozen by the merge, to its head. */
export async function showChanges(
  context: Context,
  viewer: Caller | undefined,
  path: NumberedPath,
  wanted: { type: 'diff' | 'patch'; binary: string | undefined },
): Promise<Readable> {
  const found = await findPull(context, viewer, path);
  const { repository, pull } = found;
  // It is code that changes.
  if (!mayRead(found, 'code')) throw notFound();
  const format = decideDiffFormat(wanted.type, wanted.binary);
  const from = pull.merge_base ?? (await currentMergeBase(context, repository, pull));
  const range = { from, to: pull.head_sha };
  const start = () => startDiff(context.git, repository.id, range, format);
  return (await streamFromGit(context, viewer, start)).body;
}

async function currentMergeBase(
  { git, outlooks }: Context,
  repository: RepositoryRow,
  pull: PullWithIssue,
): Promise<string> {
  const baseTip = await readRef(git, repository.id, branchRef(pull.base_branch));
  if (baseTip === undefined) throw notFound('the base branch does not exist');
  const { mergeBase } = await outlooks.of(repository.id, baseTip, pull.head_sha);
  // Unrelated histories have no merge base; everything the head has and the base has not is a change then.
  return mergeBase ?? baseTip;
}
