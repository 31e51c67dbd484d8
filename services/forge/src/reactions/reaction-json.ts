import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Links } from '../links.ts';
import type { ReactionRow } from '../store/issues/reactions.ts';
import type { UserRow } from '../store/people/users.ts';
import { userJson, userSchema } from '../users/user-json.ts';
import { timeSchema } from '../wire-schemas.ts';
import { wireTime } from '../wire-time.ts';

/** A reaction on the wire. */
export const reactionSchema = z.object({ user: userSchema, content: z.string(), created_at: timeSchema });

/** A reaction as a viewer gets it. */
export function reactionJson(
  row: ReactionRow,
  user: UserRow,
  viewer: Caller | undefined,
  links: Links,
): z.output<typeof reactionSchema> {
  return { user: userJson(user, viewer, links), content: row.content, created_at: wireTime(row.created_at) };
}
