import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { findRepository, mayRead, type VisibleRepository } from '../repositories/find-repository.ts';
import { readIndex } from '../rules/requests/read-id.ts';
import * as issues from '../store/issues/issues.ts';

/** What a path says of something with a number. */
export interface NumberedPath {
  owner: string;
  repo: string;
  index: string;
}

/** An issue or pull request the caller may see, with its repository. */
export interface VisibleIssue extends VisibleRepository {
  issue: issues.IssueWithPull;
}

/**
 * The issue or pull request a path names.
 * @throws 404
 */
export async function findIssue(
  context: Context,
  caller: Caller | undefined,
  path: NumberedPath,
): Promise<VisibleIssue> {
  const found = await findRepository(context, caller, path);
  const tx = context.database.autocommit();
  const issue = await issues.findByNumber(tx, found.repository.id, readIndex(path.index));
  if (issue === undefined || !mayRead(found, issue.is_pull ? 'pulls' : 'issues')) throw notFound();
  return { ...found, issue };
}
