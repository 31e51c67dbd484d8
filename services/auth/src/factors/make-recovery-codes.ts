import { randomBytes, randomUUID } from 'node:crypto';
import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import type { FactorRow } from '../rows.ts';
import { hasVerified } from '../rules/factors/assurance.ts';
import { checkFactorName } from '../rules/factors/names.ts';
import { CODES_OF_A_SET, RECOVERY_CODE_BYTES, recoveryCode } from '../rules/factors/recovery-codes.ts';
import * as recoveryCodes from '../store/recovery-codes.ts';
import { addFactor } from './add-factor.ts';
import { factorEntry } from './factor-entry.ts';
import { authenticateOwner, type FactorOwner } from './factor-owner.ts';

/** A set as it is shown, once. */
export interface NewRecoveryCodes {
  id: string;
  name: string;
  codes: string[];
}

const DEFAULT_NAME = 'Recovery codes';

/**
 * Makes the first set of recovery codes (POST /factors/recovery-codes). Two round trips.
 * @throws Failure `mfa_recovery_codes_sole_factor` without another factor, `insufficient_aal` for a session that did not
 *   show it, `mfa_verified_factor_exists` when there is a set
 */
export async function makeRecoveryCodes(
  context: AuthContext,
  authorization: string | undefined,
  wanted: { name: string; origin: Origin },
): Promise<NewRecoveryCodes> {
  const name = checkFactorName(wanted.name) || DEFAULT_NAME;
  const { owner } = await authenticateMaker(context, authorization);
  if (setOf(owner) !== undefined) throw failures.recoveryCodesExist();
  const id = randomUUID();
  const codes = newCodes();
  const audit = [factorEntry(owner.person.user, 'factor_in_progress', id, { factor_type: 'recovery_code' })];
  const factor = { id, type: 'recovery_code', status: 'verified', name, phone: null, secret: null } as const;
  const hashes = codes.map((code) => recoveryCodeHash(context, owner.person.user.id, code));
  await addFactor(context, owner, { ...factor, recoveryCodes: hashes }, { ...wanted.origin, audit });
  return { id, name, codes };
}

/**
 * Makes a new set in place of the old one (POST /factors/recovery-codes/regenerate). Two round trips.
 * @throws Failure `mfa_factor_not_found` when there is none, and as above
 */
export async function remakeRecoveryCodes(
  context: AuthContext,
  authorization: string | undefined,
  origin: Origin,
): Promise<NewRecoveryCodes> {
  const { owner } = await authenticateMaker(context, authorization);
  const set = setOf(owner);
  if (set === undefined) throw failures.factorNotFound();
  const codes = newCodes();
  const hashes = codes.map((code) => recoveryCodeHash(context, owner.person.user.id, code));
  const { user } = owner.person;
  const audit = [factorEntry(user, 'factor_updated', set.id, { factor_type: set.factor_type })];
  const done = await recoveryCodes.replace(
    context.database.autocommit(),
    { userId: user.id, sessionId: owner.sessionId, factorId: set.id, hashes },
    { ...origin, audit },
  );
  if (!done) throw failures.tryAgain();
  return { id: set.id, name: set.friendly_name ?? '', codes };
}

/** The set somebody has. */
export function setOf({ person }: FactorOwner): FactorRow | undefined {
  return person.user.factors.find((one) => one.factor_type === 'recovery_code');
}

/** How a code is kept: keyed, and the same letters of somebody else are another code. */
export function recoveryCodeHash(context: AuthContext, userId: string, code: string): string {
  return context.atRest.hashCode(`recovery ${userId} ${code}`);
}

async function authenticateMaker(
  context: AuthContext,
  authorization: string | undefined,
): Promise<{ owner: FactorOwner }> {
  const { owner } = await authenticateOwner(context, authorization);
  if (!context.settings.MFA_RECOVERY_CODES_ENABLED) throw failures.recoveryCodesOff();
  if (!hasVerified(owner.person.user.factors)) throw failures.recoveryCodesStandAlone();
  if (owner.aal !== 'aal2') throw failures.recoveryCodesNeedAal2();
  return { owner };
}

function newCodes(): string[] {
  return Array.from({ length: CODES_OF_A_SET }, () => recoveryCode(randomBytes(RECOVERY_CODE_BYTES)));
}
