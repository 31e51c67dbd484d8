import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden } from '../failures.ts';
import { checkMember, findOrganization } from '../organizations/find-organization.ts';
import * as members from '../store/people/members.ts';

/**
 * Shows the caller's membership to everybody, or hides it; nobody decides that for somebody else.
 * @throws 403
 */
export async function publishMembership(
  context: Context,
  caller: Caller,
  path: { org: string; username: string },
  wanted: 'show' | 'hide',
): Promise<void> {
  const found = await findOrganization(context, caller, path.org);
  checkMember(found);
  if (path.username.toLowerCase() !== caller.user.login_key) {
    throw forbidden('Cannot publicize or conceal another member');
  }
  const change = wanted === 'show' ? members.show : members.hide;
  await change(context.database.autocommit(), found.organization.id, caller.userId);
}
