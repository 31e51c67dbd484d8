import type { Caller } from '../caller/caller.ts';
import type { CommentPath } from '../comments/find-comment.ts';
import type { Context } from '../context.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import * as reactions from '../store/issues/reactions.ts';
import * as users from '../store/people/users.ts';
import { findSubject } from './find-subject.ts';
import { reactionJson } from './reaction-json.ts';

/** A page of the reactions to an issue or a comment. */
export async function listReactions(
  context: Context,
  viewer: Caller | undefined,
  path: NumberedPath | CommentPath,
  query: { page?: string | undefined; limit?: string | undefined },
): Promise<ListPage> {
  const subject = await findSubject(context, viewer, path);
  const page = pageOf(context, query);
  const tx = context.database.autocommit();
  const { rows, total } = await reactions.list(tx, subject, page);
  const people = await users.mapByIds(tx, [...new Set(rows.map((row) => row.user_id))]);
  const items = rows.map((row) =>
    reactionJson(row, people.get(row.user_id) ?? users.GHOST, viewer, context.links),
  );
  return { page, total, items };
}
