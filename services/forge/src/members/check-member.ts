import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { findOrganization } from '../organizations/find-organization.ts';
import * as members from '../store/people/members.ts';

/**
 * Whether somebody is a member, as far as the caller may know; `public` sends him to ask who shows it.
 * @throws 404 when he is not
 */
export async function checkIsMember(
  context: Context,
  caller: Caller | undefined,
  path: { org: string; username: string },
): Promise<'yes' | 'public'> {
  const found = await findOrganization(context, caller, path.org);
  if (!found.isMember) return 'public';
  const membership = await members.find(context.database.autocommit(), found.organization.id, path.username);
  if (!membership?.isMember) throw notFound();
  return 'yes';
}

/** @throws 404 unless somebody is a member and shows it */
export async function checkIsPublicMember(
  context: Context,
  caller: Caller | undefined,
  path: { org: string; username: string },
): Promise<void> {
  const { organization } = await findOrganization(context, caller, path.org);
  const membership = await members.find(context.database.autocommit(), organization.id, path.username);
  if (!membership?.isMember || !membership.isPublic) throw notFound();
}
