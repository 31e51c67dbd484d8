import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import { issueSchema } from '../issues/issue-json.ts';
import { labelSchema } from '../labels/label-json.ts';
import type { Links } from '../links.ts';
import { milestoneSchema } from '../milestones/milestone-json.ts';
import type { EntryDetails } from '../rules/issues/timeline-details.ts';
import type { CommentWithIssue } from '../store/issues/comments.ts';
import type { UserRow } from '../store/people/users.ts';
import { teamSchema } from '../teams/team-json.ts';
import { trackedTimeSchema } from '../tracking/tracking-json.ts';
import { userJson, userSchema } from '../users/user-json.ts';
import { timeSchema } from '../wire-schemas.ts';
import { wireTime } from '../wire-time.ts';
import { commentAddresses, commentSchema } from './comment-json.ts';

/** An entry of a timeline on the wire. Members that its kind does not have are null, empty or 0. */
export const timelineSchema = z.object({
  id: z.int(),
  type: z.string(),
  html_url: z.string(),
  pull_request_url: z.string(),
  issue_url: z.string(),
  user: userSchema,
  body: z.string(),
  created_at: timeSchema,
  updated_at: timeSchema,
  old_project_id: z.int(),
  project_id: z.int(),
  old_milestone: milestoneSchema.nullable(),
  milestone: milestoneSchema.nullable(),
  tracked_time: trackedTimeSchema.nullable(),
  old_title: z.string(),
  new_title: z.string(),
  old_ref: z.string(),
  new_ref: z.string(),
  ref_issue: issueSchema.nullable(),
  ref_comment: commentSchema.nullable(),
  ref_action: z.string(),
  ref_commit_sha: z.string(),
  review_id: z.int(),
  label: labelSchema.nullable(),
  assignee: userSchema.nullable(),
  assignee_team: teamSchema.nullable(),
  removed_assignee: z.boolean(),
  resolve_doer: userSchema.nullable(),
  dependent_issue: issueSchema.nullable(),
});

type Timeline = z.output<typeof timelineSchema>;

/** What an entry refers to, as the viewer gets it; null for what is gone or not for him. */
export type TimelineSurroundings = Pick<
  Timeline,
  | 'old_milestone'
  | 'milestone'
  | 'tracked_time'
  | 'ref_issue'
  | 'ref_comment'
  | 'label'
  | 'dependent_issue'
  | 'assignee_team'
> & {
  owner: string;
  repo: string;
  poster: UserRow;
  assignee: UserRow | undefined;
  details: EntryDetails;
};

/** Something that happened to an issue, as a viewer gets it. */
export function timelineJson(
  row: CommentWithIssue,
  { owner, repo, poster, assignee, details, ...around }: TimelineSurroundings,
  viewer: Caller | undefined,
  links: Links,
): Timeline {
  return {
    id: row.id,
    type: row.kind,
    ...commentAddresses(row, { owner, repo }, links),
    user: userJson(poster, viewer, links),
    body: details.push === undefined ? row.body : pushText(details.push),
    created_at: wireTime(row.created_at),
    updated_at: wireTime(row.updated_at),
    old_project_id: 0,
    project_id: 0,
    old_title: details.oldTitle,
    new_title: details.newTitle,
    old_ref: details.oldRef,
    new_ref: details.newRef,
    ref_action: details.refAction,
    ref_commit_sha: details.refCommitSha,
    review_id: details.review ?? 0,
    assignee: assignee === undefined ? null : userJson(assignee, viewer, links),
    removed_assignee: details.removedAssignee,
    // Comments on lines are settled, which their reviews have.
    resolve_doer: null,
    ...around,
  };
}

/** What the body of a `pull_push` says, as JSON inside of JSON: so does the reference. */
const pushText = ({ isForced, commits }: NonNullable<EntryDetails['push']>) =>
  JSON.stringify({ is_force_push: isForced, commit_ids: commits });
