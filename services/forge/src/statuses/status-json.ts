import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import { addressesOf } from '../commits/commit-json.ts';
import type { Links } from '../links.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import type { UserRow } from '../store/people/users.ts';
import type { CommitStatusRow } from '../store/repositories/commit-statuses.ts';
import { userJson, userSchema } from '../users/user-json.ts';
import { timeSchema } from '../wire-schemas.ts';
import { wireTime } from '../wire-time.ts';

/** A commit status on the wire: the state is called `status` here, and `state` when one is made. */
export const statusSchema = z.object({
  id: z.int(),
  status: z.string(),
  target_url: z.string(),
  description: z.string(),
  url: z.string(),
  context: z.string(),
  creator: userSchema,
  created_at: timeSchema,
  updated_at: timeSchema,
});

/** A commit status as its viewer gets it. */
export function statusJson(
  row: CommitStatusRow,
  { found, creator }: { found: VisibleRepository; creator: UserRow },
  viewer: Caller | undefined,
  links: Links,
): z.output<typeof statusSchema> {
  return {
    id: row.id,
    status: row.state,
    target_url: row.target_url,
    description: row.description,
    url: addressesOf(found, links).api(`statuses/${row.sha}`),
    context: row.context,
    creator: userJson(creator, viewer, links),
    created_at: wireTime(row.created_at),
    updated_at: wireTime(row.updated_at),
  };
}
