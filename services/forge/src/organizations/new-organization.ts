import { z } from 'zod';
import { readVisibility } from '../rules/access/profile.ts';
import type { OrganizationFields } from '../store/people/organizations.ts';
import { optional, requiredText } from '../wire-schemas.ts';

/** What an organization says of itself, in requests. */
export const organizationProfile = {
  full_name: optional.text,
  email: optional.text,
  description: optional.text,
  website: optional.text,
  location: optional.text,
  visibility: optional.text,
  repo_admin_change_team_access: optional.boolean,
};

/** The body of a new organization. */
export const newOrganization = z.object({ username: requiredText, ...organizationProfile });

/**
 * The same as operations take it.
 * @throws 422 for a visibility that is none
 */
export const fieldsOf = (body: z.output<typeof newOrganization>): OrganizationFields => ({
  fullName: body.full_name ?? '',
  email: body.email ?? '',
  description: body.description ?? '',
  website: body.website ?? '',
  location: body.location ?? '',
  visibility: readVisibility(body.visibility, 'public'),
  repositoryAdminsManageTeams: body.repo_admin_change_team_access ?? false,
});
