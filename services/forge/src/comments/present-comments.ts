import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import type { CommentWithIssue } from '../store/issues/comments.ts';
import * as users from '../store/people/users.ts';
import * as attachments from '../store/tracking/attachments.ts';
import { commentJson, type commentSchema } from './comment-json.ts';

/** Comments of a repository as their viewer gets them: two statements, however many. */
export async function presentComments(
  { database, links }: Context,
  viewer: Caller | undefined,
  { repository, owner }: VisibleRepository,
  rows: readonly CommentWithIssue[],
): Promise<z.output<typeof commentSchema>[]> {
  if (rows.length === 0) return [];
  const tx = database.autocommit();
  const posters = [...new Set(rows.map(({ poster_id: id }) => id).filter((id) => id !== null))];
  const ids = rows.map(({ id }) => id);
  const [people, assets] = await Promise.all([
    users.mapByIds(tx, posters),
    attachments.mapByComments(tx, ids),
  ]);
  return rows.map((row) =>
    commentJson(
      row,
      {
        owner: owner.login,
        repo: repository.name,
        poster: (row.poster_id !== null && people.get(row.poster_id)) || users.GHOST,
        assets: assets.get(row.id) ?? [],
      },
      viewer,
      links,
    ),
  );
}
