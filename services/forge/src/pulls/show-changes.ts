import { Readable } from 'node:stream';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { outputOf, runForClient } from '../git-http/run-for-client.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { startDiff } from '../outside/git/diff.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import { decideDiffFormat } from '../rules/diff-format.ts';
import type { PullWithIssue } from '../store/pulls.ts';
import type { RepositoryRow } from '../store/repositories.ts';
import { findPull } from './find-pull.ts';

/** What a pull request changes, as text: from the merge base, which is frozen by the merge, to its head. */
export async function showChanges(
  context: Context,
  viewer: Caller | undefined,
  path: NumberedPath,
  wanted: { type: 'diff' | 'patch'; binary: string | undefined },
): Promise<Readable> {
  const { repository, pull } = await findPull(context, viewer, path);
  const format = decideDiffFormat(wanted.type, wanted.binary);
  const from = pull.merge_base ?? (await currentMergeBase(context, repository, pull));
  const range = { from, to: pull.head_sha };
  const program = await runForClient(context, () => startDiff(context.git, repository.id, range, format));
  async function* text() {
    yield* outputOf(program);
    const { code, stderr } = await program.exited;
    if (code !== 0) throw new Error(`git could not show the changes: ${stderr}`);
  }
  return Readable.from(text(), { objectMode: false });
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
