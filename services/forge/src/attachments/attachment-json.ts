import { z } from 'zod';
import type { Links } from '../links.ts';
import type { AttachmentRow } from '../store/tracking/attachments.ts';
import { timeSchema } from '../wire-schemas.ts';
import { wireTime } from '../wire-time.ts';

/** A file on the wire. */
export const attachmentSchema = z.object({
  id: z.int(),
  name: z.string(),
  size: z.int(),
  download_count: z.int(),
  created_at: timeSchema,
  uuid: z.string(),
  browser_download_url: z.string(),
});

/** A file of an issue or a comment. */
export function attachmentJson(row: AttachmentRow, links: Links): z.output<typeof attachmentSchema> {
  return {
    id: row.id,
    name: row.name,
    size: row.size_bytes,
    download_count: row.downloads,
    created_at: wireTime(row.created_at),
    uuid: row.uuid,
    browser_download_url: `${links.root}/attachments/${row.uuid}`,
  };
}
