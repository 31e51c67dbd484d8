import type { Tx } from '@croft/sql';
import { withinHourlyLimit } from '../codes/hourly-limit.ts';
import { prepareMailCode } from '../codes/prepare-code.ts';
import { sendLimit } from '../codes/send-limit.ts';
import type { AuthContext } from '../context.ts';
import type { UserRow } from '../rows.ts';
import { auditEntry, byProvider } from '../rules/audit.ts';
import * as oneTimeTokens from '../store/one-time-tokens.ts';
import type { Arrival } from './arrival.ts';
import { insertUnlessTaken, newExternalUser } from './new-external-user.ts';

/**
 * Mails the owner of an address nobody vouches for, of an account that is there or is made now; unless that was done a
 * moment ago, of which the answer says nothing.
 * @throws Failure `over_email_send_rate_limit` when the service's mails of this hour are used up
 */
export async function askOwner(
  tx: Tx,
  context: AuthContext,
  arrival: Arrival,
  email: string,
  user: UserRow | undefined,
): Promise<void> {
  const { provider, origin, redirectTo, identityData, waiting } = arrival;
  const limit = sendLimit(context, 'confirmation', email);
  const data = user?.raw_user_meta_data ?? identityData;
  const { stored } = prepareMailCode(context, {
    purpose: 'signup',
    to: email,
    redirectTo,
    challenge: waiting?.challenge,
    data,
  });
  const sentAt = ['confirmation_sent_at'] as const;
  const row = newExternalUser(context, arrival, email, false);
  const audit = [auditEntry(user ?? row.actor, 'user_confirmation_requested', byProvider(provider))];
  const trace = { ...origin, audit };
  await withinHourlyLimit(context, 'mail', async () => {
    if (user !== undefined) {
      return await oneTimeTokens.send(tx, { userId: user.id, limit, codes: [stored], sentAt, trace });
    }
    const inserted = await insertUnlessTaken(context, tx, {
      ...row.user,
      code: stored,
      sentAt,
      limit,
      trace,
    });
    return { allowed: inserted?.created === true };
  });
}

/** What is done for an address that somebody has: all that counts towards limits, and nothing else. */
export async function pretendToAsk(
  tx: Tx,
  context: AuthContext,
  { origin }: Arrival,
  email: string,
): Promise<void> {
  const limit = sendLimit(context, 'confirmation', email);
  const trace = { ...origin, audit: [] };
  await withinHourlyLimit(context, 'mail', () =>
    oneTimeTokens.send(tx, { userId: undefined, limit, codes: [], sentAt: [], trace }),
  );
}
