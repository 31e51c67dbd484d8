// `email_change_confirm_status` of a user: which of the two addresses has agreed to the change so far.

/** Neither has. */
export const NONE_CONFIRMED = 0;
/** The new one has. */
export const NEW_CONFIRMED = 1;
/** The present one has. */
export const CURRENT_CONFIRMED = 2;

/** What a confirmation of a change of address comes to. */
export type EmailChangeStep = 'change' | 'wait-for-other';

/** Whether the present address must agree to a new one: unless the operator asks for less, or there is none. */
export function asksBothAddresses(
  presentEmail: string | null,
  policy: { MAILER_SECURE_EMAIL_CHANGE_ENABLED: boolean; MAILER_AUTOCONFIRM: boolean },
): boolean {
  const hasPresent = presentEmail !== null && presentEmail !== '';
  return hasPresent && policy.MAILER_SECURE_EMAIL_CHANGE_ENABLED && !policy.MAILER_AUTOCONFIRM;
}

/** Whether the change happens now, or waits for the other address. */
export function emailChangeStep(
  status: number,
  confirmedNow: typeof NEW_CONFIRMED | typeof CURRENT_CONFIRMED,
  asksBoth: boolean,
): EmailChangeStep {
  const other = confirmedNow === NEW_CONFIRMED ? CURRENT_CONFIRMED : NEW_CONFIRMED;
  if (status === other) return 'change';
  // The present address alone never says that the new one is anybody's.
  return asksBoth || confirmedNow === CURRENT_CONFIRMED ? 'wait-for-other' : 'change';
}
