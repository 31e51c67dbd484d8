import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound } from '../failures.ts';
import {
  findRepository,
  mayRead,
  mayWrite,
  type VisibleRepository,
} from '../repositories/find-repository.ts';
import { viewerOf } from '../rules/access/permission.ts';
import { readId } from '../rules/requests/read-id.ts';
import type * as comments from '../store/issues/comments.ts';
import * as timeline from '../store/issues/timeline.ts';

/** What a path says of a comment. */
export interface CommentPath {
  owner: string;
  repo: string;
  id: string;
}

/** An entry of a timeline the caller may see, with its repository. */
export interface VisibleComment extends VisibleRepository {
  comment: comments.CommentWithIssue;
}

/**
 * The entry a path names, of whatever kind.
 * @throws 404, for ids of other repositories and of what the caller may not read, too
 */
export async function findComment(
  context: Context,
  caller: Caller | undefined,
  path: CommentPath,
): Promise<VisibleComment> {
  const found = await findRepository(context, caller, path);
  const tx = context.database.autocommit();
  const comment = await timeline.findById(tx, found.repository.id, readId(path.id), viewerOf(caller));
  if (comment === undefined || !mayRead(found, unitOf(comment.issue_is_pull))) throw notFound();
  return { ...found, comment };
}

/** The part of a repository that an issue or a pull request belongs to. */
export const unitOf = (isPull: boolean) => (isPull ? 'pulls' : 'issues');

/** Whether somebody may change what others wrote about an issue, and still write when it is locked. */
export const moderates = (found: VisibleRepository, issue: { is_pull: boolean }) =>
  mayWrite(found, unitOf(issue.is_pull));

/** @throws 403 for somebody who is neither the author nor a writer, and for all but writers when the issue is locked */
export function checkMayChange(caller: Caller, { comment, ...found }: VisibleComment): void {
  if (mayWrite(found, unitOf(comment.issue_is_pull))) return;
  if (comment.poster_id !== caller.userId) throw forbidden('only the author and writers may change this');
  if (comment.issue_locked) throw locked();
}

/** The conversation goes on without those who may only read. */
export const locked = () => forbidden('the conversation is locked');
