import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import type { Person } from '../rows.ts';
import * as userAdmin from '../store/user-admin.ts';
import * as users from '../store/users.ts';
import { type ActingAdmin, adminEntry } from './admin-entry.ts';

/**
 * Deletes a user for good, with sessions, codes and ways to sign in.
 * @returns who it was
 * @throws Failure `user_not_found`
 */
export async function deleteUser(
  context: AuthContext,
  admin: ActingAdmin,
  userId: string,
  origin: Pick<Origin, 'ip' | 'userAgent'>,
): Promise<Person> {
  const person = await users.findById(context.database.autocommit(), userId);
  if (person === undefined) throw failures.userNotFound();
  const audit = adminEntry(admin, 'user_deleted', person.user);
  const removed = await userAdmin.remove(context.database.autocommit(), userId, {
    ...origin,
    audit: [audit],
  });
  if (!removed) throw failures.userNotFound();
  return person;
}
