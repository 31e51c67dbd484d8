import type { Caller } from '../caller/caller.ts';
import type { CommentPath } from '../comments/find-comment.ts';
import type { Context } from '../context.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { asksForPage, type ListPage, pageOf, WHOLE_LIST } from '../list-answer.ts';
import { planBeginning } from '../rules/requests/paging.ts';
import * as reactions from '../store/issues/reactions.ts';
import * as users from '../store/people/users.ts';
import { findSubject } from './find-subject.ts';
import { reactionJson } from './reaction-json.ts';

/** A page of the reactions to an issue or a comment; of those to a comment all, where no page is asked for. */
export async function listReactions(
  context: Context,
  viewer: Caller | undefined,
  path: NumberedPath | CommentPath,
  query: { page?: string | undefined; limit?: string | undefined },
): Promise<ListPage> {
  const subject = await findSubject(context, viewer, path);
  const isWhole = 'id' in path && !asksForPage(query);
  const page = isWhole ? WHOLE_LIST : pageOf(context, query);
  const tx = context.database.autocommit();
  const { rows, total } = await reactions.list(tx, subject, page);
  const beginning = isWhole
    ? planBeginning(rows.length, total, context.settings.MAX_RESPONSE_ITEMS)
    : undefined;
  const shown = rows.slice(0, beginning?.shown);
  const people = await users.mapByIds(tx, [...new Set(shown.map((row) => row.user_id))]);
  const items = shown.map((row) =>
    reactionJson(row, people.get(row.user_id) ?? users.GHOST, viewer, context.links),
  );
  return { page, total, beginning, items };
}
