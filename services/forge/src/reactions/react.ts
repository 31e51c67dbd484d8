import type { Caller } from '../caller/caller.ts';
import { type CommentPath, locked } from '../comments/find-comment.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { checkNotArchived } from '../repositories/find-repository.ts';
import { checkReaction } from '../rules/issues/reaction.ts';
import * as reactions from '../store/issues/reactions.ts';
import { findSubject, type Subject } from './find-subject.ts';

/**
 * Adds a reaction; one of each kind for everybody.
 * @throws 403 for an unknown kind, and for all but writers where the conversation is locked; 404, 423
 */
export async function addReaction(
  context: Context,
  caller: Caller,
  path: NumberedPath | CommentPath,
  content: string,
): Promise<{ row: reactions.ReactionRow; isNew: boolean }> {
  const subject = await findSubjectToChange(context, caller, path);
  const by = { userId: caller.userId, content: checkReaction(content), evenLocked: subject.moderates };
  const tx = context.database.autocommit();
  const added = await reactions.insert(tx, subject, by);
  const row = added ?? (await reactions.find(tx, subject, by));
  // Deleted since we looked, or locked.
  if (row === undefined) throw notFound();
  return { row, isNew: added !== undefined };
}

/**
 * Takes the caller's reaction back; there need not be one.
 * @throws as adding does
 */
export async function removeReaction(
  context: Context,
  caller: Caller,
  path: NumberedPath | CommentPath,
  content: string,
): Promise<void> {
  const subject = await findSubjectToChange(context, caller, path);
  const by = { userId: caller.userId, content: checkReaction(content) };
  await reactions.remove(context.database.autocommit(), subject, by);
}

async function findSubjectToChange(
  context: Context,
  caller: Caller,
  path: NumberedPath | CommentPath,
): Promise<Subject> {
  const subject = await findSubject(context, caller, path);
  checkNotArchived(subject.found);
  if (subject.locked && !subject.moderates) throw locked();
  return subject;
}
