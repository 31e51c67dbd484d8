import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { loadPeople } from '../issues/load-people.ts';
import type { VisiblePull } from '../pulls/find-pull.ts';
import type { ReviewEntry } from '../store/reviews/reviews.ts';
import { teamJson, teamSchema } from '../teams/team-json.ts';
import { userJson, userSchema } from '../users/user-json.ts';
import { timeSchema } from '../wire-schemas.ts';
import { wireTime } from '../wire-time.ts';

/** A review, or a request for one, on the wire. */
export const reviewSchema = z.object({
  id: z.int(),
  user: userSchema.nullable(),
  team: teamSchema.nullable(),
  state: z.enum(['APPROVED', 'PENDING', 'COMMENT', 'REQUEST_CHANGES', 'REQUEST_REVIEW']),
  body: z.string(),
  commit_id: z.string(),
  stale: z.boolean(),
  official: z.boolean(),
  dismissed: z.boolean(),
  comments_count: z.int(),
  submitted_at: timeSchema.describe('when it was begun, as long as it is pending'),
  updated_at: timeSchema,
  html_url: z.string(),
  pull_request_url: z.string(),
});

/** The page of a pull request. */
export const pageOfPull = ({ links }: Context, { owner, repository, pull }: VisiblePull) =>
  `${links.repository(owner.login, repository.name)}/pulls/${pull.number}`;

/** Reviews of a pull request as their viewer gets them: one statement, however many. */
export async function presentReviews(
  context: Context,
  viewer: Caller | undefined,
  found: VisiblePull,
  rows: readonly ReviewEntry[],
): Promise<z.output<typeof reviewSchema>[]> {
  const known = viewer === undefined ? [] : [viewer.user];
  const people = await loadPeople(
    context,
    rows.map((row) => row.reviewer_id),
    known,
  );
  const page = pageOfPull(context, found);
  return rows.map((row) => ({
    id: row.id,
    user: row.team_id === null ? userJson(people.byId(row.reviewer_id), viewer, context.links) : null,
    team: row.team && teamJson(row.team, found.owner, viewer, context.links),
    state: row.state,
    body: row.body,
    commit_id: row.commit_sha,
    stale: row.stale,
    official: row.official,
    dismissed: row.dismissed,
    comments_count: row.comments_count,
    submitted_at: wireTime(row.submitted_at ?? row.created_at),
    updated_at: wireTime(row.updated_at),
    html_url: `${page}#pullrequestreview-${row.id}`,
    pull_request_url: page,
  }));
}
