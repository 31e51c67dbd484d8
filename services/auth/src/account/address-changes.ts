import type { LinkWish } from '../codes/prepare-code.ts';
import { type SendPurpose, sendLimit } from '../codes/send-limit.ts';
import type { AuthContext } from '../context.ts';
import type { PhoneChange } from '../phone/change-phone.ts';
import { preparePhoneCode } from '../phone/prepare-phone-code.ts';
import type { UserRow } from '../rows.ts';
import { NONE_CONFIRMED } from '../rules/addresses/email-change.ts';
import type { SentAtColumn, StoredCode } from '../store/one-time-tokens.ts';
import type { SendLimit } from '../store/send-limits.ts';
import type { UserChanges } from '../store/user-changes.ts';
import { emailChangeCodes } from './email-change-codes.ts';

/** What a new address or number comes to: columns, and the codes that bring them into force. */
export interface AddressChange {
  what: 'mail' | 'sms';
  columns: Pick<UserChanges, 'email' | 'phone' | 'emailChange' | 'phoneChange'>;
  codes: readonly StoredCode[];
  sentAt: readonly SentAtColumn[];
  limits: readonly { what: 'mail' | 'sms'; limit: SendLimit }[];
}

/** A new address: at once for anonymous users where addresses need no confirmation, else once it is confirmed. */
export function planEmailChange(
  context: AuthContext,
  user: UserRow,
  email: string,
  link: LinkWish,
): AddressChange {
  if (user.is_anonymous && context.settings.MAILER_AUTOCONFIRM) {
    return { what: 'mail', columns: { email }, codes: [], sentAt: [], limits: [] };
  }
  const fresh = { ...user, email_change_confirm_status: NONE_CONFIRMED };
  return {
    what: 'mail',
    columns: { emailChange: email },
    codes: emailChangeCodes(context, fresh, email, link).map(({ stored }) => stored),
    sentAt: ['email_change_sent_at'],
    limits: [
      ...limitsOf(context, 'email_change', user, email),
      // POST /resend counts by the present address.
      ...noted(context, 'email_change', user.email),
    ],
  };
}

/** A new number: at once where numbers need no confirmation. */
export function planPhoneChange(context: AuthContext, user: UserRow, change: PhoneChange): AddressChange {
  const { phone, channel } = change;
  if (context.settings.SMS_AUTOCONFIRM) {
    return { what: 'sms', columns: { phone }, codes: [], sentAt: [], limits: [] };
  }
  const code = preparePhoneCode(context, { purpose: 'phone_change', phone, channel });
  return {
    what: 'sms',
    columns: { phoneChange: phone },
    codes: [code.stored],
    sentAt: ['phone_change_sent_at'],
    limits: limitsOf(context, 'phone', user, phone),
  };
}

/** No account is a machine that sends to ever other addresses, and none is sent to by ever other accounts. */
function limitsOf(
  context: AuthContext,
  purpose: SendPurpose,
  user: UserRow,
  address: string,
): AddressChange['limits'] {
  const what = purpose === 'phone' ? 'sms' : 'mail';
  // All messages to a number have one interval; of mails, /resend has one that strangers can use up.
  const names = [`user ${user.id}`, purpose === 'phone' ? address : `to ${address}`];
  const limits = names.map((name) => sendLimit(context, purpose, name));
  return limits.flatMap((limit) => (limit === undefined ? [] : [{ what, limit }]));
}

/** Counts for others, and forbids nothing itself. */
function noted(context: AuthContext, purpose: SendPurpose, address: string | null): AddressChange['limits'] {
  const limit = address === null ? undefined : sendLimit(context, purpose, address);
  if (limit === undefined) return [];
  return [{ what: 'mail', limit: { ...limit, notAfter: context.clock.now() } }];
}
