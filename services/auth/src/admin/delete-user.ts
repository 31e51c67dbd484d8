import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import type { Person } from '../rows.ts';
import { obfuscated, obfuscatedPhone } from '../rules/users/obfuscated.ts';
import type { Trace } from '../store/audit-log.ts';
import * as userRemoval from '../store/user-removal.ts';
import * as users from '../store/users.ts';
import { type ActingAdmin, adminEntry } from './admin-entry.ts';

/**
 * Deletes a user for good, with sessions, codes and ways to sign in.
 * @param soft keeps the row and its id, for what refers to them, without anything that tells who it was; once more it
 *   changes nothing. Such a user can still be deleted for good
 * @returns who it was
 * @throws Failure `user_not_found`
 */
export async function deleteUser(
  context: AuthContext,
  admin: ActingAdmin,
  userId: string,
  origin: Pick<Origin, 'ip' | 'userAgent'>,
  soft = false,
): Promise<Person> {
  const person = await users.findLivingOrRemoved(context.database.autocommit(), userId);
  if (person === undefined) throw failures.userNotFound();
  const audit = adminEntry(admin, 'user_deleted', person.user);
  const trace = { ...origin, audit: [audit] };
  const removed = soft
    ? await obfuscate(context, userId, trace)
    : await userRemoval.remove(context.database.autocommit(), userId, trace);
  if (!removed) throw failures.userNotFound();
  return person;
}

/** With what was linked, or took the place of address and number, until the row was held. */
async function obfuscate({ database }: AuthContext, userId: string, trace: Trace): Promise<boolean> {
  return await database.transaction(async (tx) => {
    await users.hold(tx, userId);
    const person = await users.findLivingOrRemoved(tx, userId);
    if (person === undefined) return false;
    return person.user.deleted_at !== null || (await userRemoval.obfuscate(tx, obfuscationOf(person), trace));
  });
}

function obfuscationOf({ user, identities }: Person): userRemoval.Obfuscation {
  const { id, email, phone } = user;
  return {
    userId: id,
    email: email === null ? null : obfuscated(id, email),
    phone: phone === null ? null : obfuscatedPhone(id, phone),
    providerIds: identities.map((one) => ({ id: one.id, providerId: obfuscated(id, one.provider_id) })),
  };
}
