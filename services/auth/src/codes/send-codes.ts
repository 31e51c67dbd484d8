import { randomUUID } from 'node:crypto';
import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import type { Person } from '../rows.ts';
import * as oneTimeTokens from '../store/one-time-tokens.ts';
import { withinHourlyLimit } from './hourly-limit.ts';
import type { PreparedCode } from './prepare-code.ts';
import { type SendPurpose, sendLimit, sentTooRecently } from './send-limit.ts';

/** Codes to be sent, and the limit they fall under. */
export interface CodesToSend {
  /** Undefined for an address nobody has: the limit counts as for all others, and nothing is sent. */
  userId: string | undefined;
  purpose: SendPurpose;
  /** What the limit counts by: the address or number that was asked for. */
  address: string;
  codes: readonly PreparedCode[];
  sentAt: readonly oneTimeTokens.SentAtColumn[];
  audit: readonly object[];
  origin: Origin;
}

/** What became of them. */
export interface CodesSent {
  person: Person | undefined;
  /** Names the message in the log of deliveries; there is one for unknown addresses as well. */
  messageId: string;
}

/**
 * Sends codes in place of earlier ones of the same type: they are rows of the outbox when this returns. One round trip.
 * @throws Failure `over_email_send_rate_limit` or `over_sms_send_rate_limit` when something was sent just before
 */
export async function sendCodes(context: AuthContext, wanted: CodesToSend): Promise<CodesSent> {
  const { userId, purpose, address, codes, sentAt, audit, origin } = wanted;
  const tx = context.database.autocommit();
  const limit = sendLimit(context, purpose, address);
  const messageId = randomUUID();
  const sending: oneTimeTokens.Sending = {
    userId,
    limit,
    codes: codes.map(({ stored }) => withId(stored, messageId)),
    sentAt,
    trace: { ...origin, audit },
  };
  const what = purpose === 'phone' ? 'sms' : 'mail';
  // By the settings, not by the account: else the limit would tell whether a change is pending.
  const both = purpose === 'email_change' && context.settings.MAILER_SECURE_EMAIL_CHANGE_ENABLED;
  const sent = await withinHourlyLimit(context, what, () => oneTimeTokens.send(tx, sending), both ? 2 : 1);
  if (!sent.allowed) throw sentTooRecently(limit, sent, tx.now, purpose === 'phone');
  return { person: sent.person, messageId };
}

function withId(code: oneTimeTokens.StoredCode, messageId: string): oneTimeTokens.StoredCode {
  const { effect } = code;
  return effect === undefined
    ? code
    : { ...code, effect: { ...effect, payload: { ...effect.payload, messageId } } };
}
