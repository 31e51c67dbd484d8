import type { Context } from '../context.ts';
import { notFound, unacceptable } from '../failures.ts';
import { findMergeBase } from '../outside/git/merging/merge.ts';
import { readFileDiff } from '../outside/git/reading/file-diff.ts';
import { describeObject } from '../outside/git/reading/objects.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import type { VisiblePull } from '../pulls/find-pull.ts';
import { mayRead } from '../repositories/find-repository.ts';
import { readTreePath } from '../rules/files/tree-path.ts';
import { readObjectId } from '../rules/git/revision.ts';
import { checkText } from '../rules/issues/text-limits.ts';
import { cutHunks } from '../rules/pulls/diff-hunk.ts';
import type { NewReviewComment } from '../store/reviews/review-comments.ts';

/** A comment on a line as a request has it; lines count from 1. */
export interface WantedComment {
  path?: string | null | undefined;
  body?: string | null | undefined;
  oldPosition?: number | null | undefined;
  newPosition?: number | null | undefined;
}

/** Each file is a process of git. */
const MAX_AT_ONCE = 50;

/**
 * The commit that was looked at: the head, unless the request names another that there is.
 * @throws 422 for what is no whole id of a commit
 */
export async function readReviewedCommit(
  { git }: Context,
  { repository, pull }: VisiblePull,
  wanted: string,
): Promise<string> {
  if (wanted === '' || wanted === pull.head_sha) return pull.head_sha;
  const id = readObjectId(wanted);
  const commit = id && (await describeObject(git, repository.id, `${id}^{commit}`));
  if (!commit || commit.id !== id) throw unacceptable('[CommitID]: no commit of the repository');
  return id;
}

/**
 * Finds the lines that comments are about.
 * @throws 404 for somebody who may not read the code, 422 for a line that the pull request does not show
 */
export async function locateComments(
  context: Context,
  found: VisiblePull,
  commit: string,
  wanted: readonly WantedComment[],
): Promise<NewReviewComment[]> {
  if (wanted.length === 0) return [];
  if (!mayRead(found, 'code')) throw notFound();
  if (wanted.length > MAX_AT_ONCE) throw unacceptable(`[Comments]: MaxSize(${MAX_AT_ONCE})`);
  const comments = wanted.map(checkComment);
  const from = await findBase(context, found, commit);
  const hunks = new Map<string, ReadonlyMap<number, string>>();
  for (const path of new Set(comments.map((comment) => comment.path))) {
    const diff = await readFileDiff(context.git, found.repository.id, { from, to: commit }, path);
    const lines = comments.filter((comment) => comment.path === path).map(({ line }) => line);
    hunks.set(path, cutHunks(diff ?? '', lines));
  }
  return comments.map((comment) => {
    const hunk = hunks.get(comment.path)?.get(comment.line);
    if (hunk === undefined) {
      const { path, line } = comment;
      const side = line > 0 ? 'new' : 'old';
      throw unacceptable(
        `[Comments]: the pull request does not show ${side} line ${Math.abs(line)} of ${path.slice(0, 200)}`,
      );
    }
    return { ...comment, hunk };
  });
}

/** As in the reference the line after the change counts, and without one that before it. */
function checkComment({ path, body, oldPosition, newPosition }: WantedComment) {
  const place = readTreePath(path ?? '');
  if (!place || !place.isWellFormed()) throw unacceptable('[Path]: no path of a file');
  if ((body ?? '').trim() === '') throw unacceptable('[Body]: Required');
  const line = newPosition || -(oldPosition || 0);
  if (line === 0 || (newPosition ?? 0) < 0 || (oldPosition ?? 0) < 0)
    throw unacceptable('[Comments]: new_position or old_position must be the number of a line');
  return { path: place, body: checkText(body ?? ''), line };
}

/** Where the change begins, as in the diff of the pull request. */
async function findBase(
  { git }: Context,
  { repository, pull }: VisiblePull,
  commit: string,
): Promise<string> {
  if (pull.merge_base !== null) return pull.merge_base;
  const base = await readRef(git, repository.id, branchRef(pull.base_branch));
  if (base === undefined) throw unacceptable('[Comments]: the base branch does not exist');
  return (await findMergeBase(git, repository.id, base, commit)) ?? base;
}
