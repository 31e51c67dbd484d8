import type { Caller } from '../caller/caller.ts';
import { type CommentPath, locked } from '../comments/find-comment.ts';
import type { Context } from '../context.ts';
import { forbidden } from '../failures.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { findSubject, type Subject } from '../reactions/find-subject.ts';
import { checkNotArchived } from '../repositories/find-repository.ts';

/**
 * An issue or comment whose files the caller may change: his own, and writers everybody's.
 * @throws 403, 404, 423
 */
export async function findSubjectToWrite(
  context: Context,
  caller: Caller,
  path: NumberedPath | CommentPath,
): Promise<Subject> {
  const subject = await findSubject(context, caller, path);
  if (!subject.moderates) {
    if (subject.posterId !== caller.userId)
      throw forbidden('only the author and writers may change the files');
    if (subject.locked) throw locked();
  }
  checkNotArchived(subject.found);
  return subject;
}
