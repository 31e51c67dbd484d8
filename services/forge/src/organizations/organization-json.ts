import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Links } from '../links.ts';
import type { UserRow } from '../store/people/users.ts';

/** An organization on the wire. */
export const organizationSchema = z.object({
  id: z.int(),
  name: z.string(),
  full_name: z.string(),
  email: z.string(),
  avatar_url: z.string(),
  description: z.string(),
  website: z.string(),
  location: z.string(),
  visibility: z.string(),
  repo_admin_change_team_access: z.boolean(),
  username: z.string(),
});

/** An organization; its e-mail address is for people who are signed in. */
export function organizationJson(
  row: UserRow,
  viewer: Caller | undefined,
  links: Links,
): z.output<typeof organizationSchema> {
  return {
    id: row.id,
    name: row.login,
    full_name: row.full_name,
    email: viewer === undefined ? '' : row.email,
    avatar_url: links.avatar(row.id),
    description: row.description,
    website: row.website,
    location: row.location,
    visibility: row.visibility,
    repo_admin_change_team_access: row.repository_admins_manage_teams,
    username: row.login,
  };
}
