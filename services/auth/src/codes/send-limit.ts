import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import type { Sent } from '../store/one-time-tokens.ts';
import type { SendLimit } from '../store/send-limits.ts';

/** What is sent; each has its own interval for an address. */
export type SendPurpose = 'confirmation' | 'recovery' | 'email_change' | 'reauthentication' | 'phone';

/**
 * The limit of one kind of message to one address. It is kept by a keyed hash of the address, so it counts for
 * addresses nobody has as for all others, and tells nothing to whoever reads the table.
 */
export function sendLimit(
  context: AuthContext,
  purpose: SendPurpose,
  address: string,
): SendLimit | undefined {
  const { settings, atRest, clock } = context;
  const intervalMs = purpose === 'phone' ? settings.SMS_MAX_FREQUENCY : settings.SMTP_MAX_FREQUENCY;
  if (intervalMs === 0) return undefined;
  return {
    key: atRest.stableId(`send ${purpose} ${address}`),
    notAfter: new Date(clock.now().getTime() - intervalMs),
  };
}

/** The refusal of what was asked for too early. */
export function sentTooRecently(limit: SendLimit | undefined, sent: Sent, now: Date, isPhone = false): Error {
  const intervalMs = limit === undefined ? 0 : now.getTime() - limit.notAfter.getTime();
  // Nothing to read means that another request was answered just now.
  const lastMs = sent.lastSentAt?.getTime() ?? now.getTime();
  const seconds = Math.max(1, Math.ceil((lastMs + intervalMs - now.getTime()) / 1000));
  return isPhone ? failures.textedTooRecently(seconds) : failures.mailedTooRecently(seconds);
}
