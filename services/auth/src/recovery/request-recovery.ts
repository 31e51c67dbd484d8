import type { Origin } from '../caller/origin.ts';
import { prepareMailCode } from '../codes/prepare-code.ts';
import { sendCodes } from '../codes/send-codes.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import type { CodeChallenge } from '../rows.ts';
import { checkEmailAddress } from '../rules/addresses/email-address.ts';
import { auditEntry } from '../rules/audit.ts';
import { chooseRedirect, type RedirectWish } from '../rules/redirects/redirect.ts';
import * as users from '../store/users.ts';

/** Somebody who cannot sign in any more. */
export interface RecoveryRequest {
  email: string;
  redirect: RedirectWish;
  /** What makes the link of the mail one that only its asker can use. */
  challenge: CodeChallenge | undefined;
  origin: Origin;
}

/**
 * Mails a link that signs in, so that a new password can be set (POST /recover). For an address nobody has the answer,
 * the limit and the number of statements are the same. Two round trips.
 * @throws Failure for the first check that fails, or when a mail went to the address just before
 */
export async function requestRecovery(context: AuthContext, request: RecoveryRequest): Promise<void> {
  const { settings, redirects, database } = context;
  if (!settings.EXTERNAL_EMAIL_ENABLED) throw failures.emailRequestsDisabled();
  if (request.email === '') throw failures.recoveryEmailMissing();
  const email = checkEmailAddress(request.email);
  const person = await users.findByEmail(database.autocommit(), email);
  const code = prepareMailCode(context, {
    purpose: 'recovery',
    to: email,
    redirectTo: chooseRedirect(request.redirect, redirects),
    challenge: request.challenge,
    data: person?.user.raw_user_meta_data ?? {},
  });
  await sendCodes(context, {
    userId: person?.user.id,
    purpose: 'recovery',
    address: email,
    codes: [code],
    sentAt: ['recovery_sent_at'],
    audit: person === undefined ? [] : [auditEntry(person.user, 'user_recovery_requested')],
    origin: request.origin,
  });
}
