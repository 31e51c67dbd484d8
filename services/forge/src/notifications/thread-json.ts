import { z } from 'zod';
import type { Links } from '../links.ts';
import { repositorySchema } from '../repositories/repository-json.ts';
import type { ThreadRow } from '../store/events/notifications.ts';
import { timeSchema } from '../wire-schemas.ts';
import { wireTime } from '../wire-time.ts';

/** A thread on the wire. */
export const threadSchema = z.object({
  id: z.int(),
  repository: repositorySchema,
  subject: z.object({
    title: z.string(),
    url: z.string(),
    latest_comment_url: z.string(),
    html_url: z.string(),
    latest_comment_html_url: z.string(),
    type: z.enum(['Issue', 'Pull']),
    state: z.enum(['open', 'closed', 'merged']),
  }),
  unread: z.boolean(),
  pinned: z.boolean(),
  updated_at: timeSchema,
  url: z.string(),
});

/** A thread as its owner gets it. */
export function threadJson(
  row: ThreadRow,
  repository: z.output<typeof repositorySchema>,
  links: Links,
): z.output<typeof threadSchema> {
  const { owner, name } = row.repository;
  const page = `${links.repository(owner.login, name)}/${row.is_pull ? 'pulls' : 'issues'}/${row.number}`;
  const api = `/repos/${owner.login}/${name}/issues`;
  const { comment_id: comment } = row;
  const open = row.closed ? 'closed' : 'open';
  return {
    id: row.id,
    repository,
    subject: {
      title: row.title,
      url: links.api(`${api}/${row.number}`),
      latest_comment_url: comment === null ? '' : links.api(`${api}/comments/${comment}`),
      html_url: page,
      latest_comment_html_url: comment === null ? '' : `${page}#issuecomment-${comment}`,
      type: row.is_pull ? 'Pull' : 'Issue',
      state: row.merged ? 'merged' : open,
    },
    unread: row.status === 'unread',
    pinned: row.status === 'pinned',
    updated_at: wireTime(row.updated_at),
    url: links.api(`/notifications/threads/${row.id}`),
  };
}
