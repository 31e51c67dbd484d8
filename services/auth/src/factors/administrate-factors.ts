import { isUniqueViolation } from '@croft/sql';
import { type ActingAdmin, adminEntry } from '../admin/admin-entry.ts';
import { showUser } from '../admin/show-user.ts';
import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import type { FactorRow, Person } from '../rows.ts';
import { checkPhoneNumber } from '../rules/addresses/phone-number.ts';
import { FACTOR_METHODS } from '../rules/factors/assurance.ts';
import { checkFactorName } from '../rules/factors/names.ts';
import * as factors from '../store/factors.ts';

/** A factor of a user. */
export interface NamedFactor {
  userId: string;
  factorId: string;
  origin: Origin;
}

/**
 * The factors of a user, for administrators. One round trip.
 * @throws Failure `user_not_found`; `validation_failed`, 404, for what is no id
 */
export async function listFactors(context: AuthContext, userId: string): Promise<FactorRow[]> {
  return (await showUser(context, userId)).user.factors;
}

/**
 * Renames a factor, or gives a phone another number; what is empty stays as it is. Two round trips.
 * @throws Failure `user_not_found`, `mfa_factor_not_found`, `mfa_factor_name_conflict`
 */
export async function updateFactor(
  context: AuthContext,
  admin: ActingAdmin,
  { userId, factorId, origin }: NamedFactor,
  wanted: { name: string; phone: string },
): Promise<FactorRow> {
  const person = await showUser(context, userId);
  const factor = factorOf(person, factorId);
  const name = checkFactorName(wanted.name) || undefined;
  const isPhone = factor.factor_type === 'phone' && wanted.phone !== '';
  const phone = isPhone ? checkPhoneNumber(wanted.phone) : undefined;
  const tx = context.database.autocommit();
  const trace = { ...origin, audit: [adminEntry(admin, 'factor_updated', person.user)] };
  const changed = await factors
    .update(tx, person.user.id, factor.id, { name, phone }, trace)
    .catch((error: unknown) => {
      if (isUniqueViolation(error, 'mfa_factors_friendly_name')) throw failures.factorNameTaken(name ?? '');
      throw error;
    });
  if (!changed) throw failures.factorNotFound();
  return {
    ...factor,
    friendly_name: name ?? factor.friendly_name,
    phone: phone ?? factor.phone,
    updated_at: tx.now.toISOString(),
  };
}

/**
 * Takes a factor away from a user, such as one who lost it. The sessions it had raised fall back. Two round trips.
 * @throws Failure `user_not_found`, `mfa_factor_not_found`
 */
export async function deleteFactor(
  context: AuthContext,
  admin: ActingAdmin,
  { userId, factorId, origin }: NamedFactor,
): Promise<FactorRow> {
  const person = await showUser(context, userId);
  const factor = factorOf(person, factorId);
  const gone = await factors.unenrol(context.database.autocommit(), {
    userId: person.user.id,
    factorId: factor.id,
    asker: null,
    methods: FACTOR_METHODS,
    trace: { ...origin, audit: [adminEntry(admin, 'factor_deleted', person.user)] },
  });
  if (!gone) throw failures.factorNotFound();
  return factor;
}

function factorOf({ user }: Person, factorId: string): FactorRow {
  const factor = user.factors.find((one) => one.id === factorId.toLowerCase());
  if (factor === undefined) throw failures.factorNotFound();
  return factor;
}
