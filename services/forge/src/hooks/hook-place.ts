import type { Caller } from '../caller/caller.ts';
import { checkReachesPrivate } from '../caller/check-reaches-private.ts';
import type { Context } from '../context.ts';
import { forbidden } from '../failures.ts';
import { checkOwner, findOrganization } from '../organizations/find-organization.ts';
import { checkAdmin, findRepository } from '../repositories/find-repository.ts';
import type { HookScope } from '../store/events/hooks.ts';

/** The place whose hooks a request is about, once it is known that the caller administrates it. */
export type FindPlace<Path> = (context: Context, caller: Caller, path: Path) => Promise<HookScope>;

/** @throws 404, 403 for whoever does not administrate the repository */
export const ofRepository: FindPlace<{ owner: string; repo: string }> = async (context, caller, path) => {
  const found = await findRepository(context, caller, path);
  checkAdmin(found);
  return { repositoryId: found.repository.id, ownerId: null };
};

/** @throws 404, 403 for whoever does not own the organization */
export const ofOrganization: FindPlace<{ org: string }> = async (context, caller, path) => {
  const found = await findOrganization(context, caller, path.org);
  checkOwner(found);
  // A hook for many repositories is told of the private ones among them, too.
  checkReachesPrivate(caller);
  return { repositoryId: null, ownerId: found.organization.id };
};

/** The hooks of the caller himself, for all of his repositories. */
export const ofCaller: FindPlace<object> = async (_context, caller) => {
  checkReachesPrivate(caller);
  return { repositoryId: null, ownerId: caller.userId };
};

/** @throws 403 for everybody but site administrators */
export const ofSystem: FindPlace<object> = async (_context, caller) => {
  if (!caller.isAdmin) throw forbidden('user should be the site admin');
  checkReachesPrivate(caller);
  return { repositoryId: null, ownerId: null };
};
