import { z } from 'zod';
import { attachmentJson, attachmentSchema } from '../attachments/attachment-json.ts';
import type { Caller } from '../caller/caller.ts';
import { labelJson, labelSchema } from '../labels/label-json.ts';
import type { Links } from '../links.ts';
import { milestoneJson, milestoneSchema } from '../milestones/milestone-json.ts';
import type { IssueWithPull } from '../store/issues/issues.ts';
import type { UserRow } from '../store/people/users.ts';
import { userJson, userSchema } from '../users/user-json.ts';
import { timeSchema } from '../wire-schemas.ts';
import { wireTime, wireTimeOrNull } from '../wire-time.ts';

/** An issue on the wire. */
export const issueSchema = z.object({
  id: z.int(),
  url: z.string(),
  html_url: z.string(),
  number: z.int(),
  user: userSchema,
  original_author: z.string(),
  original_author_id: z.int(),
  title: z.string(),
  body: z.string(),
  ref: z.string(),
  assets: z.array(attachmentSchema),
  labels: z.array(labelSchema),
  milestone: milestoneSchema.nullable(),
  assignee: userSchema.nullable(),
  assignees: z.array(userSchema),
  state: z.enum(['open', 'closed']),
  is_locked: z.boolean(),
  comments: z.int(),
  created_at: timeSchema,
  updated_at: timeSchema,
  closed_at: timeSchema.nullable(),
  due_date: timeSchema.nullable(),
  pull_request: z
    .object({
      merged: z.boolean(),
      merged_at: timeSchema.nullable(),
      draft: z.boolean(),
      html_url: z.string(),
    })
    .nullable(),
  repository: z.object({ id: z.int(), name: z.string(), owner: z.string(), full_name: z.string() }),
  pin_order: z.int(),
  content_version: z.int(),
  time_estimate: z.int().describe('seconds'),
  projects: z.array(z.object({})).describe('none'),
});

/** What stands around an issue. */
export interface IssueSurroundings {
  /** Its repository, with the login of the owner. */
  home: { id: number; name: string; owner: string };
  poster: UserRow;
  assignees: readonly UserRow[];
  /** Whether the pull request's title says that it is not finished. */
  draft: boolean;
}

/** An issue, or a pull request seen as one. */
export function issueJson(
  row: IssueWithPull,
  around: IssueSurroundings,
  viewer: Caller | undefined,
  links: Links,
): z.output<typeof issueSchema> {
  const { home } = around;
  const page = links.repository(home.owner, home.name);
  const names = { owner: home.owner, repo: home.name };
  const htmlUrl = `${page}/${row.is_pull ? 'pulls' : 'issues'}/${row.number}`;
  const assignees = around.assignees.map((user) => userJson(user, viewer, links));
  return {
    id: row.id,
    url: links.api(`/repos/${home.owner}/${home.name}/issues/${row.number}`),
    html_url: htmlUrl,
    number: row.number,
    user: userJson(around.poster, viewer, links),
    original_author: '',
    original_author_id: 0,
    title: row.title,
    body: row.body,
    ref: row.ref,
    assets: row.attachments.map((file) => attachmentJson(file, links)),
    labels: row.labels.map((label) => labelJson(label, names, links)),
    milestone: row.milestone && milestoneJson(row.milestone),
    assignee: assignees[0] ?? null,
    assignees,
    state: row.closed_at === null ? 'open' : 'closed',
    is_locked: row.locked_at !== null,
    comments: row.comments,
    created_at: wireTime(row.created_at),
    updated_at: wireTime(row.updated_at),
    closed_at: wireTimeOrNull(row.closed_at),
    due_date: wireTimeOrNull(row.deadline_at),
    pull_request: row.is_pull
      ? {
          merged: row.merged_at !== null,
          merged_at: wireTimeOrNull(row.merged_at),
          draft: around.draft,
          html_url: htmlUrl,
        }
      : null,
    repository: {
      id: home.id,
      name: home.name,
      owner: home.owner,
      full_name: `${home.owner}/${home.name}`,
    },
    pin_order: row.pin_order,
    content_version: row.content_version,
    time_estimate: row.time_estimate_seconds,
    projects: [],
  };
}
