import { randomBytes, randomUUID } from 'node:crypto';
import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { checkPhoneNumber } from '../rules/addresses/phone-number.ts';
import { base32 } from '../rules/factors/base32.ts';
import { checkFactorName, checkIssuer } from '../rules/factors/names.ts';
import { otpauthUri } from '../rules/factors/otpauth.ts';
import { KEY_BYTES } from '../rules/factors/totp.ts';
import type { AuthSettings } from '../settings.ts';
import { addFactor } from './add-factor.ts';
import { factorEntry } from './factor-entry.ts';
import { authenticateOwner, type FactorOwner } from './factor-owner.ts';
import { qrCode } from './qr-code.ts';

/** A factor as somebody asks for it; the empty text means none. */
export interface FactorRequest {
  type: string;
  name: string;
  issuer: string;
  phone: string;
  origin: Origin;
}

/** What its owner gets of it, once; a number as he wrote it. */
export type EnrolledFactor = { id: string; name: string } & (
  | { type: 'totp'; qrCode: string; secret: string; uri: string }
  | { type: 'phone'; phone: string }
);

/**
 * Adds a second factor, which counts once it was proven (POST /factors). Two round trips.
 * @throws Failure for the first check that fails, in the order of GoTrue
 */
export async function enrolFactor(
  context: AuthContext,
  authorization: string | undefined,
  request: FactorRequest,
): Promise<EnrolledFactor> {
  const type = checkType(request.type, context.settings);
  const name = checkFactorName(request.name);
  const issuer = checkIssuer(request.issuer, context.settings.SITE_URL);
  const phone = type === 'phone' ? checkPhone(request.phone) : undefined;
  const { owner } = await authenticateOwner(context, authorization);
  const { user } = owner.person;
  const id = randomUUID();
  const audit = [factorEntry(user, 'factor_in_progress', id, { factor_type: type })];
  const trace = { ...request.origin, audit };
  const factor = { id, status: 'unverified' as const, name, phone: phone ?? null, secret: null };
  if (phone !== undefined) {
    await addFactor(context, owner, { ...factor, type: 'phone' }, trace);
    return { id, name, type: 'phone', phone: request.phone };
  }
  const secret = base32(randomBytes(KEY_BYTES));
  await addFactor(context, owner, { ...factor, type: 'totp', secret: context.atRest.seal(secret) }, trace);
  const uri = otpauthUri({ issuer, account: accountOf(owner), secret });
  return { id, name, type: 'totp', secret, uri, qrCode: await qrCode(uri) };
}

function checkType(type: string, settings: AuthSettings): 'totp' | 'phone' {
  if (type === 'webauthn') throw failures.webauthnEnrolmentOff();
  if (type !== 'totp' && type !== 'phone') throw failures.factorTypeUnknown();
  if (type === 'totp' && !settings.MFA_TOTP_ENROLL_ENABLED) throw failures.totpEnrolmentOff();
  if (type === 'phone' && !settings.MFA_PHONE_ENROLL_ENABLED) throw failures.phoneEnrolmentOff();
  return type;
}

function checkPhone(phone: string): string {
  if (phone === '') throw failures.factorPhoneMissing();
  return checkPhoneNumber(phone);
}

/** What the code stands under in an app. */
function accountOf({ person: { user } }: FactorOwner): string {
  return user.email || user.phone || user.id;
}
