import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { checkUserId } from '../rules/users/admin-user.ts';
import * as sessions from '../store/sessions.ts';
import * as users from '../store/users.ts';
import { type ActingAdmin, adminEntry } from './admin-entry.ts';

/**
 * Signs a user out everywhere; changes of address and sign-ins under way end as well.
 * @throws Failure `user_not_found`; `validation_failed`, 404, for what is no id
 */
export async function endSessions(
  context: AuthContext,
  admin: ActingAdmin,
  userId: string,
  origin: Origin,
): Promise<void> {
  const tx = context.database.autocommit();
  const person = await users.findById(tx, checkUserId(userId));
  if (person === undefined) throw failures.userNotFound();
  const audit = [adminEntry(admin, 'logout', person.user)];
  await sessions.end(tx, { userId: person.user.id }, { ...origin, audit });
}
