import { z } from 'zod';
import { attachmentJson, attachmentSchema } from '../attachments/attachment-json.ts';
import type { Caller } from '../caller/caller.ts';
import { addressesOf, inPath } from '../commits/commit-json.ts';
import type { Links } from '../links.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import type { UserRow } from '../store/people/users.ts';
import type { ReleaseRow } from '../store/repositories/releases.ts';
import type { AttachmentRow } from '../store/tracking/attachments.ts';
import { userJson, userSchema } from '../users/user-json.ts';
import { timeSchema } from '../wire-schemas.ts';
import { NO_TIME, wireTime } from '../wire-time.ts';

/** A release on the wire. */
export const releaseSchema = z.object({
  id: z.int(),
  tag_name: z.string(),
  target_commitish: z.string(),
  name: z.string(),
  body: z.string(),
  url: z.string(),
  html_url: z.string(),
  tarball_url: z.string(),
  zipball_url: z.string(),
  upload_url: z.string(),
  draft: z.boolean(),
  prerelease: z.boolean(),
  created_at: timeSchema,
  published_at: timeSchema.describe('in the year 1: not yet'),
  author: userSchema,
  assets: z.array(attachmentSchema),
});

/** A release as its viewer gets it. */
export function releaseJson(
  row: ReleaseRow,
  { found, author, files }: { found: VisibleRepository; author: UserRow; files: readonly AttachmentRow[] },
  viewer: Caller | undefined,
  links: Links,
): z.output<typeof releaseSchema> {
  const address = addressesOf(found, links);
  const url = address.api(`releases/${row.id}`);
  return {
    id: row.id,
    tag_name: row.tag_name,
    target_commitish: row.target,
    name: row.name,
    body: row.body,
    url,
    html_url: address.page(`releases/tag/${inPath(row.tag_name)}`),
    tarball_url: address.archive(row.tag_name, 'tar.gz'),
    zipball_url: address.archive(row.tag_name, 'zip'),
    upload_url: `${url}/assets`,
    draft: row.published_at === null,
    prerelease: row.prerelease,
    created_at: wireTime(row.created_at),
    published_at: row.published_at === null ? NO_TIME : wireTime(row.published_at),
    author: userJson(author, viewer, links),
    assets: files.map((file) => attachmentJson(file, links)),
  };
}
