import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { renameAccount } from '../users/rename-account.ts';
import { checkOwner, findOrganization } from './find-organization.ts';

/** Gives an organization another name, for its owners. */
export async function renameOrganization(
  context: Context,
  caller: Caller,
  name: string,
  login: string,
): Promise<void> {
  const found = await findOrganization(context, caller, name);
  checkOwner(found);
  await renameAccount(context, found.organization, login);
}
