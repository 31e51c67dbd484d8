import { isUniqueViolation } from '@croft/sql';
import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { instant, type TokenType } from '../rows.ts';
import { checkPhoneNumber } from '../rules/addresses/phone-number.ts';
import { auditEntry, BY_PHONE } from '../rules/audit.ts';
import { SENT_METHOD } from '../rules/codes/one-time-code.ts';
import { isBanned } from '../rules/users/ban.ts';
import { type IssuedSession, issueFirstTokens, prepareSession } from '../sessions/issue-tokens.ts';
import * as sessions from '../store/sessions.ts';
import { findPhoneCode } from './find-phone-code.ts';

/** A code by SMS as it was typed. */
export interface PhoneVerification {
  type: 'sms' | 'phone_change';
  phone: string;
  code: string;
  origin: Origin;
}

const typesOf = {
  sms: ['phone_token', 'confirmation_token'],
  phone_change: ['phone_change_token'],
} as const satisfies Readonly<Record<PhoneVerification['type'], readonly TokenType[]>>;

/**
 * Signs in the bearer of a code by SMS and confirms the number it was sent to, or puts it in the place of the present
 * one (POST /verify with `phone`). Of several requests with the same code one succeeds. Two round trips.
 * @throws Failure `otp_expired` for everything that is no living code, `phone_exists` when somebody else has the
 *   wanted number by now
 */
export async function verifyPhoneCode(
  context: AuthContext,
  verification: PhoneVerification,
): Promise<{ issued: IssuedSession }> {
  const { type, code, origin } = verification;
  const phone = checkPhoneNumber(verification.phone);
  const found = await findPhoneCode(context, { phone, code, types: typesOf[type] });
  if (found === undefined) throw failures.codeInvalid();
  const { user } = found;
  const tx = context.database.autocommit();
  if (isBanned(instant(user.banned_until), tx.now)) throw failures.userBanned();

  const session = prepareSession(SENT_METHOD);
  const isFirst = user.phone_confirmed_at === null;
  const confirms = type === 'phone_change' ? 'phone_change' : isFirst ? 'phone' : undefined;
  const action = type === 'phone_change' ? 'user_modified' : isFirst ? 'user_signedup' : 'login';
  const opened = await sessions
    .open(tx, {
      userId: user.id,
      session: session.row,
      consumes: found,
      confirms,
      trace: { ...origin, audit: [auditEntry(user, action, BY_PHONE)] },
    })
    .catch((error: unknown) => {
      throw isUniqueViolation(error) ? failures.phoneTaken() : error;
    });
  if (opened === undefined) throw failures.codeInvalid();
  return { issued: await issueFirstTokens(context, opened, session, tx.now, origin) };
}
