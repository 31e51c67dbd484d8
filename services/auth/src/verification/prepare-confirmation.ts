import { randomInt } from 'node:crypto';
import type { AuthContext } from '../context.ts';
import { mailEffect } from '../effects.ts';
import { actionLink } from '../rules/action-link.ts';
import { codeDigits, tokenHashOf } from '../rules/one-time-code.ts';
import type { Confirmation } from '../store/one-time-tokens.ts';

/** A new code for an address, and the mail that brings it. */
export function prepareConfirmation(context: AuthContext, email: string, redirectTo: string): Confirmation {
  const { settings, atRest } = context;
  const digits = codeDigits(settings.MAILER_OTP_LENGTH);
  const code = randomInt(10 ** digits)
    .toString()
    .padStart(digits, '0');
  const tokenHash = tokenHashOf(email, code);
  const url = actionLink(settings.API_EXTERNAL_URL, settings.MAILER_URLPATHS_CONFIRMATION, {
    tokenHash,
    type: 'signup',
    redirectTo,
  });
  return {
    tokenHash: atRest.hashCode(tokenHash),
    mail: mailEffect(atRest, {
      kind: 'confirmation',
      to: email,
      subject: settings.MAILER_SUBJECTS_CONFIRMATION,
      url,
      code,
    }),
  };
}
