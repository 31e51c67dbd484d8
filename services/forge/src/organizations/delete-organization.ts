import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound, unacceptable } from '../failures.ts';
import * as organizations from '../store/people/organizations.ts';
import { checkOwner, findOrganization } from './find-organization.ts';

/**
 * Removes an organization with its teams.
 * @throws 422 while it has repositories
 */
export async function deleteOrganization(context: Context, caller: Caller, name: string): Promise<void> {
  const found = await findOrganization(context, caller, name);
  checkOwner(found);
  const { id, login } = found.organization;
  await context.database.transaction(async (tx) => {
    if (!(await organizations.lock(tx, id))) throw notFound();
    if (await organizations.ownsRepositories(tx, id)) {
      throw unacceptable(`organization still has repositories [name: ${login}]`);
    }
    await organizations.remove(tx, id);
  });
}
