import type { Origin } from '../caller/origin.ts';
import { prepareMailCode } from '../codes/prepare-code.ts';
import { sendCodes } from '../codes/send-codes.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { sendPhoneNonce } from '../phone/send-phone-code.ts';
import type { Person } from '../rows.ts';
import { auditEntry } from '../rules/audit.ts';

/**
 * Sends the caller a nonce that lets an old session set a password (GET /reauthenticate): to the address, or to the
 * number of who has none. One round trip besides the caller's.
 * @returns the name of a text message; a mail has none, because the client for Python takes any answer with members for
 *   a user
 * @throws Failure `validation_failed` without either, `email_not_confirmed` or `phone_not_confirmed`, or when one was
 *   sent just before
 */
export async function requestReauthentication(
  context: AuthContext,
  person: Person,
  origin: Origin,
): Promise<string | undefined> {
  const { user } = person;
  if (user.email === null || user.email === '') return await sendPhoneNonce(context, person, origin);
  if (user.email_confirmed_at === null) throw failures.ownEmailNotConfirmed();
  const code = prepareMailCode(context, {
    purpose: 'reauthentication',
    to: user.email,
    redirectTo: context.settings.SITE_URL,
    data: user.raw_user_meta_data,
  });
  await sendCodes(context, {
    userId: user.id,
    purpose: 'reauthentication',
    address: user.email,
    codes: [code],
    sentAt: ['reauthentication_sent_at'],
    audit: [auditEntry(user, 'user_reauthenticate_requested')],
    origin,
  });
  return undefined;
}
