import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { loadPeople } from '../issues/load-people.ts';
import type { VisiblePull } from '../pulls/find-pull.ts';
import { mayRead } from '../repositories/find-repository.ts';
import type { ReviewCommentRow } from '../store/reviews/review-comments.ts';
import { userJson, userSchema } from '../users/user-json.ts';
import { timeSchema } from '../wire-schemas.ts';
import { wireTime } from '../wire-time.ts';
import { pageOfPull } from './review-json.ts';

/** A comment on a line, on the wire. */
export const reviewCommentSchema = z.object({
  id: z.int(),
  body: z.string(),
  user: userSchema,
  resolver: userSchema.nullable().describe('who said that it is settled'),
  pull_request_review_id: z.int(),
  created_at: timeSchema,
  updated_at: timeSchema,
  path: z.string(),
  commit_id: z.string(),
  original_commit_id: z.string(),
  diff_hunk: z.string(),
  position: z.int().describe('line after the change, or 0'),
  original_position: z.int().describe('line before the change, or 0'),
  html_url: z.string(),
  pull_request_url: z.string(),
});

/** Comments of a review as their viewer gets them; what the code says is for those who may read it. */
export async function presentReviewComments(
  context: Context,
  viewer: Caller | undefined,
  found: VisiblePull,
  rows: readonly ReviewCommentRow[],
): Promise<z.output<typeof reviewCommentSchema>[]> {
  const known = viewer === undefined ? [] : [viewer.user];
  const people = await loadPeople(
    context,
    rows.flatMap((row) => [row.poster_id, row.resolver_id]),
    known,
  );
  const page = pageOfPull(context, found);
  const readsCode = mayRead(found, 'code');
  return rows.map((row) => ({
    id: row.id,
    body: row.body,
    user: userJson(people.byId(row.poster_id), viewer, context.links),
    resolver: row.resolver_id === null ? null : userJson(people.byId(row.resolver_id), viewer, context.links),
    pull_request_review_id: row.review_id,
    created_at: wireTime(row.created_at),
    updated_at: wireTime(row.updated_at),
    path: row.path,
    commit_id: row.commit_sha,
    original_commit_id: row.commit_sha,
    diff_hunk: readsCode ? row.diff_hunk : '',
    position: Math.max(row.line, 0),
    original_position: Math.max(-row.line, 0),
    html_url: `${page}#issuecomment-${row.id}`,
    pull_request_url: page,
  }));
}
