import { z } from 'zod';
import { attachmentJson, attachmentSchema } from '../attachments/attachment-json.ts';
import type { Caller } from '../caller/caller.ts';
import type { Links } from '../links.ts';
import type { CommentWithIssue } from '../store/issues/comments.ts';
import type { UserRow } from '../store/people/users.ts';
import type { AttachmentRow } from '../store/tracking/attachments.ts';
import { userJson, userSchema } from '../users/user-json.ts';
import { timeSchema } from '../wire-schemas.ts';
import { wireTime } from '../wire-time.ts';

/** A comment on the wire. */
export const commentSchema = z.object({
  id: z.int(),
  html_url: z.string(),
  pull_request_url: z.string(),
  issue_url: z.string(),
  user: userSchema,
  original_author: z.string(),
  original_author_id: z.int(),
  body: z.string(),
  created_at: timeSchema,
  updated_at: timeSchema,
  assets: z.array(attachmentSchema),
});

/** What stands around a comment. */
export interface CommentSurroundings {
  /** Names of the repository's owner and its own. */
  owner: string;
  repo: string;
  poster: UserRow;
  assets: readonly AttachmentRow[];
}

/** What somebody wrote, as a viewer gets it. */
export function commentJson(
  row: CommentWithIssue,
  around: CommentSurroundings,
  viewer: Caller | undefined,
  links: Links,
): z.output<typeof commentSchema> {
  return {
    id: row.id,
    ...commentAddresses(row, around, links),
    user: userJson(around.poster, viewer, links),
    original_author: '',
    original_author_id: 0,
    body: row.body,
    created_at: wireTime(row.created_at),
    updated_at: wireTime(row.updated_at),
    assets: around.assets.map((asset) => attachmentJson(asset, links)),
  };
}

/** Where a comment and its issue or pull request stand; of the two only one has an address. */
export function commentAddresses(
  row: { id: number; issue_number: number; issue_is_pull: boolean },
  { owner, repo }: { owner: string; repo: string },
  links: Links,
) {
  const page = `${links.repository(owner, repo)}/${row.issue_is_pull ? 'pulls' : 'issues'}/${row.issue_number}`;
  return {
    html_url: `${page}#issuecomment-${row.id}`,
    pull_request_url: row.issue_is_pull ? page : '',
    issue_url: row.issue_is_pull ? '' : page,
  };
}
