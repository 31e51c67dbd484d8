import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Links } from '../links.ts';
import { organizationJson, organizationSchema } from '../organizations/organization-json.ts';
import { teamAccessJson } from '../rules/access/team-access.ts';
import type { TeamRow } from '../store/people/teams.ts';
import type { UserRow } from '../store/people/users.ts';

/** A team on the wire. */
export const teamSchema = z.object({
  id: z.int(),
  name: z.string(),
  description: z.string(),
  organization: organizationSchema,
  includes_all_repositories: z.boolean(),
  permission: z.string(),
  units: z.array(z.string()),
  units_map: z.record(z.string(), z.string()),
  can_create_org_repo: z.boolean(),
  visibility: z.string(),
});

/** A team with its organization. */
export function teamJson(
  row: TeamRow,
  organization: UserRow,
  viewer: Caller | undefined,
  links: Links,
): z.output<typeof teamSchema> {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    organization: organizationJson(organization, viewer, links),
    includes_all_repositories: row.includes_all_repositories,
    ...teamAccessJson(row),
    can_create_org_repo: row.can_create_repositories,
    visibility: row.visibility,
  };
}
