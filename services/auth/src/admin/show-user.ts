import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import type { Person } from '../rows.ts';
import { checkUserId } from '../rules/users/admin-user.ts';
import * as users from '../store/users.ts';

/**
 * A user, for administrators and for services that ask whether somebody is still welcome.
 * @throws Failure `user_not_found`; `validation_failed`, 404, for what is no id
 */
export async function showUser(context: AuthContext, userId: string): Promise<Person> {
  const person = await users.findById(context.database.autocommit(), checkUserId(userId));
  if (person === undefined) throw failures.userNotFound();
  return person;
}
