import { z } from 'zod';
import type { Links } from '../links.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import type { WatchRow } from '../store/repositories/watches.ts';
import { timeSchema } from '../wire-schemas.ts';
import { wireTime } from '../wire-time.ts';

/** What somebody chose for a repository, on the wire. */
export const watchSchema = z.object({
  subscribed: z.boolean(),
  ignored: z.boolean(),
  reason: z.null(),
  created_at: timeSchema,
  url: z.string(),
  repository_url: z.string(),
});

/** A watch of a repository. */
export function watchJson(
  row: WatchRow,
  { repository, owner }: VisibleRepository,
  links: Links,
): z.output<typeof watchSchema> {
  const address = links.api(`/repos/${owner.login}/${repository.name}`);
  return {
    subscribed: !row.ignored,
    ignored: row.ignored,
    reason: null,
    created_at: wireTime(row.created_at),
    url: `${address}/subscription`,
    repository_url: address,
  };
}
