import { emailChangeCodes } from '../account/email-change-codes.ts';
import type { Origin } from '../caller/origin.ts';
import { type LinkWish, prepareMailCode } from '../codes/prepare-code.ts';
import { sendCodes } from '../codes/send-codes.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import type { CodeChallenge, Person } from '../rows.ts';
import { checkEmailAddress } from '../rules/addresses/email-address.ts';
import { isChangeOpen } from '../rules/addresses/pending-change.ts';
import { auditEntry, BY_EMAIL } from '../rules/audit.ts';
import { chooseRedirect, type RedirectWish } from '../rules/redirects/redirect.ts';
import * as users from '../store/users.ts';

/** Somebody who waits for a message that did not come. */
export interface ResendRequest {
  type: string;
  email: string;
  redirect: RedirectWish;
  /** What makes the link of the mail one that only its asker can use. */
  challenge: CodeChallenge | undefined;
  origin: Origin;
}

const TYPES = ['signup', 'email_change', 'sms', 'phone_change'];

/**
 * The checks of POST /resend, in order.
 * @throws Failure for the first check that fails
 */
export function checkResend(
  { settings }: AuthContext,
  { type, email, phone }: { type: string; email: string; phone: string },
): void {
  if (!TYPES.includes(type)) throw failures.resendTypeMissing();
  if (type === 'signup' && email === '') throw failures.resendNeedsEmail();
  if (type === 'sms' && phone === '') throw failures.resendNeedsPhone();
  if (email !== '' && phone !== '') throw failures.resendAddressAmbiguous();
  if (email !== '' && !settings.EXTERNAL_EMAIL_ENABLED) throw failures.emailRequestsDisabled();
  if (phone !== '' && !settings.EXTERNAL_PHONE_ENABLED) throw failures.phoneRequestsDisabled();
  if (email === '' && phone === '') throw failures.resendAddressMissing();
  if (type === 'email_change' && email === '') throw failures.resendNeedsEmail();
  if (type === 'phone_change' && phone === '') throw failures.resendNeedsPhone();
}

/**
 * Mails the code of a sign-up or a change of address once more (POST /resend with `email`). Unknown addresses and those
 * that wait for nothing get the same answer, limit and number of statements. Two round trips.
 * @returns the id of the message
 */
export async function resendMail(context: AuthContext, request: ResendRequest): Promise<string> {
  const email = checkEmailAddress(request.email);
  const person = await users.findByEmail(context.database.autocommit(), email);
  const link = {
    redirectTo: chooseRedirect(request.redirect, context.redirects),
    challenge: request.challenge,
  };
  const { purpose, codes, sentAt, audit } =
    request.type === 'signup' ? confirmation(context, person, link) : change(context, person, link);
  const { messageId } = await sendCodes(context, {
    userId: codes.length === 0 ? undefined : person?.user.id,
    purpose,
    address: email,
    codes,
    sentAt: [sentAt],
    audit,
    origin: request.origin,
  });
  return messageId;
}

function confirmation(context: AuthContext, person: Person | undefined, link: LinkWish) {
  const user = person?.user;
  const waits = user !== undefined && user.email !== null && user.email_confirmed_at === null;
  const order = { purpose: 'signup' as const, ...link, data: user?.raw_user_meta_data ?? {} };
  return {
    purpose: 'confirmation' as const,
    codes: waits ? [prepareMailCode(context, { ...order, to: user.email ?? '' })] : [],
    sentAt: 'confirmation_sent_at' as const,
    audit: waits ? [auditEntry(user, 'user_confirmation_requested', BY_EMAIL)] : [],
  };
}

function change(context: AuthContext, person: Person | undefined, link: LinkWish) {
  const user = person?.user;
  const newEmail = user?.email_change ?? '';
  const life = context.settings.MAILER_OTP_EXP;
  const isOpen =
    newEmail !== '' && isChangeOpen(user?.email_change_begun_at ?? null, life, context.clock.now());
  return {
    purpose: 'email_change' as const,
    codes: user === undefined || !isOpen ? [] : emailChangeCodes(context, user, newEmail, link),
    sentAt: 'email_change_sent_at' as const,
    audit: [],
  };
}
