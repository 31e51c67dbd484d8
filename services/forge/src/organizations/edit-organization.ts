import type { Caller } from '../caller/caller.ts';
import { checkReachesPrivate } from '../caller/check-reaches-private.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { checkProfile, type Profile, readVisibility } from '../rules/access/profile.ts';
import * as lostAccess from '../store/people/lost-access.ts';
import * as organizations from '../store/people/organizations.ts';
import type { UserRow } from '../store/people/users.ts';
import * as network from '../store/repositories/network.ts';
import * as repositories from '../store/repositories/repositories.ts';
import { checkOwner, findOrganization } from './find-organization.ts';

/** What an owner wants to be different; what is absent stays. */
export interface OrganizationEdit extends Profile {
  visibility?: string | undefined;
  repositoryAdminsManageTeams?: boolean | undefined;
}

/** Changes what an organization says of itself, and who may know of it. */
export async function editOrganization(
  context: Context,
  caller: Caller,
  name: string,
  edit: OrganizationEdit,
): Promise<UserRow> {
  const found = await findOrganization(context, caller, name);
  checkOwner(found);
  checkProfile(edit);
  const { id } = found.organization;
  const visibility = edit.visibility ? readVisibility(edit.visibility, 'private') : undefined;
  if (visibility !== undefined && visibility !== 'public') checkReachesPrivate(caller);
  const after = await context.database.transaction(async (tx) => {
    const now = await organizations.update(tx, id, { ...edit, visibility });
    if (visibility === 'private') await lostAccess.forget(tx, { ownerId: id });
    // Forks of owners that not everybody may know of are not counted.
    for (const original of await network.listOriginals(tx, id)) await repositories.countForks(tx, original);
    return now;
  });
  if (after === undefined) throw notFound();
  return after;
}
