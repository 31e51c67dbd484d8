import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden } from '../failures.ts';
import { includes, levelOf, viewerOf } from '../rules/access/permission.ts';
import * as organizations from '../store/people/organizations.ts';
import { findPerson } from '../users/find-user.ts';
import { findOrganization } from './find-organization.ts';

/** What somebody may do in an organization. */
export const organizationPermissionsSchema = z.object({
  is_owner: z.boolean(),
  is_admin: z.boolean(),
  can_write: z.boolean(),
  can_read: z.boolean(),
  can_create_repository: z.boolean(),
});

/**
 * What a person may do in an organization by his teams.
 * @throws 403 for others than himself and members: it would tell them who is a member
 */
export async function showPermissions(
  context: Context,
  caller: Caller,
  path: { username: string; org: string },
): Promise<z.output<typeof organizationPermissionsSchema>> {
  const found = await findOrganization(context, caller, path.org);
  const person = await findPerson(context, path.username);
  if (person.id !== caller.userId && !found.isMember) {
    throw forbidden('permissions are for members of the organization');
  }
  const subject = viewerOf({ userId: person.id, isAdmin: person.is_admin, publicOnly: false });
  const row = await organizations.findVisible(context.database.autocommit(), path.org, subject);
  const level = person.is_admin ? 'owner' : levelOf(row?.role ?? 0);
  return {
    is_owner: includes(level, 'owner'),
    is_admin: includes(level, 'admin'),
    can_write: includes(level, 'write'),
    can_read: includes(level, 'read'),
    can_create_repository: person.is_admin || row?.creates === true,
  };
}
